"""Graphs of three-address code as text.

block 3 (v7)  [handler 1]
  :4     v8 = CALL (1, 'plain') v2 v7
  -> 5 if v8 else 6 (v7)
"""

from __future__ import annotations

from depyf.decompiler.graph.tac import (
    NULL,
    SELF,
    Block,
    Branch,
    Edge,
    Exit,
    ForIter,
    Goto,
    Graph,
    Inst,
    Leave,
    Raise,
    Reraise,
    Return,
    Stop,
    seeming,
)
from depyf.decompiler.show.listing import value

NAMES = {NULL: "null", SELF: "self"}


def text(graph: Graph) -> str:
    """Return the blocks of a graph, each with its operations and its exit."""
    lines: list[str] = []
    for block in graph.live():
        lines += block_lines(graph, block)
    return "".join(f"{line}\n" for line in lines)


def block_lines(graph: Graph, block: Block) -> list[str]:
    """Return the lines of one block."""
    phis = f" ({values(block.phis)})" if block.phis else ""
    protected = ""
    if block.handler >= 0:
        known = block.handler < len(graph.handlers)
        target = f"block {graph.handlers[block.handler].target}" if known else "not there"
        protected = f"  [handler {block.handler}: {target}]"
    beyond = seeming(block.exit)
    seems = "" if beyond is None else f", seems to go on to {edge_text(beyond)}"
    return [f"block {block.index}{phis}{protected}", *map(inst_line, block.insts), f"  {exit_text(block.exit)}{seems}"]


def inst_line(inst: Inst) -> str:
    """Return the line of one operation."""
    line = "" if inst.line is None else f":{inst.line}"
    assigned = f"{values(inst.defs, ' ')} = " if inst.defs else ""
    arg = "" if inst.arg is None and inst.op != "CONST" else f" {value(inst.arg)}"
    if inst.op == "EXPR":
        arg = ""  # The operation on its operands is a function.
    used = f" {values(inst.uses, ' ')}" if inst.uses else ""
    return f"  {line:6} {assigned}{inst.op}{arg}{used}"


def exit_text(exit_: Exit) -> str:
    """Return the exit of a block."""
    match exit_:
        case Goto(edge) | Leave(edge):
            return f"-> {edge_text(edge)}"
        case Branch(cond, if_true, if_false):
            return f"-> {edge_text(if_true)} if {name(cond)} else {edge_text(if_false)}"
        case ForIter(iterator, item, body, done, _, is_async):
            kind = "async for" if is_async else "for"
            return f"-> {kind} {name(item)} in {name(iterator)}: {edge_text(body)}, else {edge_text(done)}"
        case Return(result):
            return f"return {name(result)}" if result != NULL else "return"
        case Raise(operands):
            return f"raise {values(operands)}".rstrip()
        case Reraise(exc):
            return f"reraise {name(exc)}"
        case Stop():
            return "never comes here"


def edge_text(edge: Edge) -> str:
    """Return the target of an edge, with the arguments for it."""
    return f"{edge.target} ({values(edge.args)})" if edge.args else str(edge.target)


def values(temps: list[int], separator: str = ", ") -> str:
    """Return the names of values."""
    return separator.join(map(name, temps))


def name(temp: int) -> str:
    """Return the name of a value."""
    return NAMES.get(temp, f"v{temp}")
