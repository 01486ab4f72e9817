"""Tests of values, and the handler of their statement: from 3.14 on it shows where brackets stood.

    (a or b) or c    no handler protects the test of `a`: the compiler leads its jump past the test of `a or b`
    a or b or c      the handler protects both tests
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from depyf.bytecode.code import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from depyf.bytecode.listing import Listing
from depyf.bytecode.versions.known import facts_of
from depyf.decompiler.graph.tac import Branch, Graph
from depyf.decompiler.steps import step

GENERATORS = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
"""Code in which a handler of the interpreter's protects all operations."""


def note_guarded(graph: Graph, listing: Listing, ends: Sequence[int]) -> None:
    """Note which tests the handler of their statement protects.

    ends: by index of a block, the index of the instruction behind its last one.
    """
    is_generator = bool(listing.code.flags & GENERATORS)
    if not (is_generator or listing.handlers) or not facts_of(listing.code.version, str(listing.code)).loose_tests:
        return
    for block, end in zip(graph.blocks, ends):
        if block is None or not isinstance(block.exit, Branch):
            continue
        if is_generator or block.handler >= 0:
            graph.guarded[block.exit.cond] = listing.instructions[end - 2].op != "UNGUARDED"


def note_test(operation: ast.expr, guarded: bool | None) -> None:
    """Note on `a and b` or `a or b` what is known of the test of `a`."""
    if guarded is not None:
        operation.guarded = guarded  # type: ignore[attr-defined]


def is_told(operation: ast.BoolOp) -> bool:
    """Return whether the code tells which operands of an operation were written in brackets."""
    return hasattr(operation, "guarded")


def is_loose(operation: ast.BoolOp) -> bool:
    """Return whether no handler protects the test of the first operand, though one protects the statement."""
    return getattr(operation, "guarded", True) is False


def grouped(op: ast.boolop, operands: list[ast.expr], loose: list[bool]) -> list[ast.expr]:
    """Return the operands of a chain, with those in an operation of their own that were written in brackets.

    loose: of each operand but the last, whether its test is not protected. A group ends where the next test is.
    """
    found: list[ast.expr] = []
    first = 0
    for place, is_open in enumerate([*loose, True]):
        if is_open and place < len(loose):
            continue
        group = operands[first : place + 1]
        if len(group) > 1 and place < len(loose):
            step("operands stand between brackets: no handler protects the tests of all but the last")
            found.append(ast.BoolOp(op=op, values=group))
            note_test(found[-1], guarded=True)
        else:
            found += group
        first = place + 1
    return found
