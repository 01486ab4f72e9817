"""Restore brackets in `and` and `or` from the handlers of the tests, which differ from 3.14 on.

    (a or b) or c    no handler protects the test of `a`: the compiler redirects its jump past the test of `a or b`
    a or b or c      the handler of the statement protects both tests
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from depyf.bytecode.code import GENERATORS
from depyf.bytecode.listing import Listing
from depyf.bytecode.versions.known import facts_of
from depyf.decompiler.graph.tac import Branch, Graph
from depyf.decompiler.steps import step


def note_guarded(graph: Graph, listing: Listing, ends: Sequence[int]) -> None:
    """Note which tests the handler of their statement protects.

    Args:
        graph: the graph, in which the protected tests are noted.
        listing: the listing that the graph was made from.
        ends: by index of a block, the index of the instruction after its last one.
    """
    # In a generator or coroutine a handler of the interpreter protects all other operations.
    is_generator = bool(listing.code.flags & GENERATORS)
    if not (is_generator or listing.handlers) or not facts_of(listing.code.version, str(listing.code)).loose_tests:
        return
    entered = set() if is_generator else _entered_unprotected(graph)
    for block, end in zip(graph.blocks, ends):
        if block is None or not isinstance(block.exit, Branch):
            continue
        if is_generator or block.handler >= 0:
            graph.guarded[block.exit.cond] = listing.instructions[end - 2].op != "UNGUARDED"
        elif not block.insts and block.index not in entered and is_kept(graph, block.exit):
            graph.guarded[block.exit.cond] = False


def _entered_unprotected(graph: Graph) -> set[int]:
    """Return the blocks that begin the code or follow a block without a handler."""
    return {0}.union(edge.target for block in graph.live() if block.handler < 0 for edge in block.exit.edges())


def is_kept(graph: Graph, test: Branch) -> bool:
    """Return whether a tested value stays on the stack on one of the two paths."""
    return any(test.cond in (*edge.args, *graph.block(edge.target).stack) for edge in test.edges())


def note_test(operation: ast.BoolOp, guarded: bool | None) -> None:
    """Note on `a and b` or `a or b` whether a handler protects the test of `a`, if that is known."""
    if guarded is not None:
        operation.guarded = guarded  # type: ignore[attr-defined]


def is_told(operation: ast.BoolOp) -> bool:
    """Return whether the handlers show which operands of an operation were in brackets."""
    return hasattr(operation, "guarded")


def is_loose(operation: ast.BoolOp) -> bool:
    """Return whether no handler protects the test of the first operand, though one protects the statement."""
    return getattr(operation, "guarded", True) is False


def grouped(op: ast.boolop, operands: list[ast.expr], loose: list[bool]) -> list[ast.expr]:
    """Return the operands of a chain, with one operation for each group that was in brackets.

    Args:
        op: `and` or `or`.
        operands: the operands of the chain, in order.
        loose: for each operand but the last, whether its test is unprotected. The next protected test ends the group.
    """
    joined: list[ast.expr] = []
    group: list[ast.expr] = []
    for place, operand in enumerate(operands):
        group.append(operand)
        is_last = place == len(loose)
        if not is_last and loose[place]:
            continue
        if len(group) > 1 and not is_last:
            step("operands stand between brackets: no handler protects the tests of all but the last")
            whole = ast.BoolOp(op=op, values=group)
            note_test(whole, guarded=True)
            joined.append(whole)
        else:
            joined += group
        group = []
    return joined
