"""Parse a graph of three-address code from the text of `show/graph.py`, so that a test is text in, text out.

The text has no offsets. The exception of a handler is the value that its block uses and no operation makes. Tests may
write `[stack v1, v2]` after the head of a block, for the values on the stack there; `show/graph.py` does not print it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from depyf.bytecode.code import Code
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
    HandlerEntry,
    Inst,
    Raise,
    Reraise,
    Return,
    Stop,
)
from depyf.decompiler.show.check.graph import made_in

_HEAD = re.compile(
    r"block (?P<index>\d+)(?: \((?P<phis>[^)]*)\))?(?:\s+\[stack (?P<stack>[^\]]*)\])?"
    r"(?:\s+\[handler (?P<handler>\d+): block (?P<target>\d+)\])?$"
)
_INST = re.compile(r"\s+(?::(?P<line>\d+))?\s*(?:(?P<made>[^=]*?) = )?(?P<op>[A-Z][A-Z_]*)(?P<rest>.*)$")
_EDGE = r"(\d+(?: \([^)]*\))?)"
_TEMPS = re.compile(r"(?: (?:v\d+|null|self))+$")
_NAMES = {"null": NULL, "self": SELF}


class NoGraph(ValueError):
    """A line that is not part of a graph; the message contains the line."""


def read_graph(text: str, code: Code) -> Graph:
    """Return the graph in a text.

    Args:
        code: the code of the graph; passes read its flags, parameters and names.

    Raises:
        NoGraph: a line is neither a head nor an operation nor an exit.
    """
    nested = {f"<code {const.qualname}>": const for const in code.consts if isinstance(const, Code)}
    blocks: dict[int, Block] = {}
    handlers: dict[int, HandlerEntry] = {}
    block: Block | None = None
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head is not None:
            block = Block(int(head["index"]), [], Stop(), -1, _temps(head["phis"]), _temps(head["stack"]), len(blocks))
            blocks[block.index] = block
            if head["handler"] is not None:
                block.handler = int(head["handler"])
                handlers[block.handler] = HandlerEntry(int(head["target"]), NULL, NULL)
        elif block is None:
            raise NoGraph(f"no block begins before {line!r}")
        elif (inst := _INST.match(line)) is not None:
            block.insts.append(_inst(inst, nested))
        else:
            block.exit = _exit(line.strip())
    temps = [int(number) for number in re.findall(r"\bv(\d+)", text)]
    by_index = [blocks.get(index) for index in range(max(blocks, default=-1) + 1)]
    entries = [handlers[number] for number in sorted(handlers)]
    graph = Graph(code, by_index, entries, max(temps, default=-1) + 1)
    defined = made_in(graph)
    for entry in entries:
        target = blocks.get(entry.target)
        used = [*(temp for inst in target.insts for temp in inst.uses), *target.exit.reads()] if target else []
        entry.exc = next((temp for temp in used if temp >= 0 and temp not in defined), NULL)
    return graph


def _temps(text: str | None) -> list[int]:
    return [_temp(name) for name in re.split(r"[ ,]+", text.strip()) if name] if text else []


def _temp(name: str) -> int:
    return _NAMES[name] if name in _NAMES else int(name.removeprefix("v"))


def _inst(parsed: re.Match[str], nested: Mapping[str, Code]) -> Inst:
    rest = parsed["rest"]
    used = _TEMPS.search(rest)
    argument = rest[: used.start()].strip() if used is not None else rest.strip()
    line = int(parsed["line"]) if parsed["line"] else None
    arg = nested[argument] if argument in nested else _literal(argument) if argument else None
    return Inst(parsed["op"], arg, _temps(used[0] if used else None), _temps(parsed["made"]), line, -1)


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError) as error:
        raise NoGraph(f"this argument has no literal, or is cut off: {text!r}") from error


def _edge(text: str) -> Edge:
    target, _, args = text.partition(" (")
    return Edge(int(target), _temps(args.rstrip(")")))


def _exit(text: str) -> Exit:
    """Return the exit in a line; a `return` may be followed by its source line `:n`."""
    text, _, line = text.partition("  :")
    at = int(line) if line else None
    if parsed := re.fullmatch(rf"-> {_EDGE} if (\w+) else {_EDGE}", text):
        return Branch(_temp(parsed[2]), _edge(parsed[1]), _edge(parsed[3]), at)
    if parsed := re.fullmatch(rf"-> (async )?for (\w+) in (\w+): {_EDGE}, else {_EDGE}", text):
        return ForIter(_temp(parsed[3]), _temp(parsed[2]), _edge(parsed[4]), _edge(parsed[5]), at, bool(parsed[1]))
    if parsed := re.fullmatch(rf"-> {_EDGE}", text):
        return Goto(_edge(parsed[1]))
    word, _, operands = text.partition(" ")
    if word == "return":
        return Return(_temp(operands) if operands else NULL, at)
    if word == "raise":
        return Raise(_temps(operands), at)
    if word == "reraise":
        return Reraise(_temp(operands))
    if text == "never comes here":
        return Stop()
    raise NoGraph(f"this is no operation and no exit: {text!r}")
