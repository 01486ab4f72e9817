"""Turn a block into items: fold its code, and make its exit an item."""

from __future__ import annotations

import ast

from depyf.decompiler.graph.tac import (
    Block,
    Branch,
    Edge,
    Exit,
    Goto,
    Graph,
    Leave,
    Raise,
    Reraise,
    Return,
    seeming,
)
from depyf.decompiler.lift.extent import note_place
from depyf.decompiler.lift.fold import Folder
from depyf.decompiler.lift.nodes import Temp
from depyf.decompiler.structure.compounds import RULES
from depyf.decompiler.structure.tree import If, Item, Jump, ReraiseStmt


def items_of(graph: Graph, block: Block, uses: dict[int, int]) -> list[Item]:
    """Return the statements of a block, then its exit with jumps for its edges.

    Args:
        graph: the graph of the block.
        block: the block.
        uses: by temporary, how often the graph reads it.
    """
    folder = Folder(graph, uses)
    folder.fold(block.insts, RULES)
    match block.exit:
        case Goto(edge):
            folder.finish()
            return [*folder.stmts, *jump_along(graph, edge)]
        case Leave(edge, _, explicit):
            folder.finish()
            return [*folder.stmts, *jump_along(graph, edge, explicit=explicit), *_never(block.exit)]
        case Branch(cond, if_true, if_false, line, near):
            test = _last_value(folder, cond)
            folder.finish()
            ways = jump_along(graph, if_true), jump_along(graph, if_false)
            return [*folder.stmts, If(test, *ways, line, folder.extent(), near)]
        case Return(value, line, _, offset):
            _statement(folder, [value], line, offset, lambda parts: ast.Return(value=parts[0] if parts else None))
        case Raise(operands, line, _, offset):
            _statement(folder, operands, line, offset, _raise)
        case Reraise(exc):
            folder.finish()
            folder.append(ReraiseStmt(exc=exc), None)
    folder.finish()
    return [*folder.stmts, *_never(block.exit)]


def _never(exit_: Exit) -> list[Item]:
    """Return the jump for the apparent fallthrough of an exit, if it has one."""
    beyond = seeming(exit_)
    return [] if beyond is None else [Jump(beyond.target, never=True)]


def _raise(parts: list[ast.expr]) -> ast.stmt:
    return ast.Raise(exc=parts[0] if parts else None, cause=parts[1] if len(parts) > 1 else None)


def _statement(folder: Folder, temps: list[int], line: int | None, offset: int, make) -> None:  # type: ignore[no-untyped-def]
    """Append the statement that ends a block, with the values that it uses."""
    operands = folder.take([temp for temp in temps if temp >= 0]).exprs
    folder.emit(make(operands), line)
    note_place(folder.stmts[-1], folder.graph.place(offset))


def _last_value(folder: Folder, temp: int) -> ast.expr:
    """Pop the tested value; assign all other pending values to temporaries before it."""
    if folder.slots is not None:
        folder.slots.abandon()
    entry = folder.by_temp.get(temp)
    if entry is not None and (entry is not folder.pending[-1] or entry.uses > 1):
        folder.spill_through(entry)
    (test,) = folder.take([temp]).exprs
    return test


def jump_along(graph: Graph, edge: Edge, *, explicit: bool = False) -> list[Item]:
    """Return the jump for an edge, after assignments to the phis of its target.

    Args:
        graph: the graph, for the phis of the target.
        edge: the edge with the values that it passes.
        explicit: whether the jump is a statement: `break` or `continue`.
    """
    moves: list[Item] = []
    targets: list[ast.expr] = []
    values: list[ast.expr] = []
    for phi, arg in zip(graph.block(edge.target).phis, edge.args):
        if phi != arg:
            targets.append(Temp(temp=phi))
            values.append(Temp(temp=arg))
    if len(targets) == 1:
        moves.append(ast.Assign(targets=targets, value=values[0], lineno=0))
    elif targets:
        left, right = ast.Tuple(elts=targets, ctx=ast.Store()), ast.Tuple(elts=values, ctx=ast.Load())
        moves.append(ast.Assign(targets=[left], value=right, lineno=0))
    return [*moves, Jump(edge.target, explicit=explicit)]

