"""`while 1`, which is compiled like `while True`, if its number remains in the code."""

from __future__ import annotations

import ast

from depyf.bytecode.listing import Listing
from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.lines import start_offset
from depyf.decompiler.passes.walk import compounds

WHILE = len("while ")


def restore_ones(body: list[ast.stmt], columns: Columns, listing: Listing) -> None:
    """Write `while 1` if the number precedes the loop, or is a constant without other uses.

    Args:
        body: the statements, changed in place.
        columns: the columns of the statements, and the locations that no operation claims.
        listing: the instructions and the constants.
    """
    loops = [stmt for stmt in compounds(body) if isinstance(stmt, ast.While) and _is_true(stmt.test)]
    if not loops:
        return
    used = {id(instruction.arg) for instruction in listing.instructions if instruction.op == "CONST"}
    unused = [const for const in listing.code.consts if id(const) not in used]
    is_left = any(const is not True and const == 1 for const in unused if type(const) in (int, bool))
    only_one = is_left and not any(const is True for const in unused)
    ones = {place[:2] for place in columns.left.idle if place.end_column == place.column + 1}
    last = _last_new_const(listing) if listing.keeps_constants else 0
    for stmt in loops:
        start = columns.starts.get(stmt.body[0])
        column = columns.column(stmt)
        is_led = start is not None and any(_leads(literal, start, column) for literal in ones)
        if only_one or is_led or start_offset(stmt) < last:
            stmt.test = ast.Constant(1)


def _last_new_const(listing: Listing) -> int:
    """Return the first load of the last constant, for code with a 1 and no `True`; 0 for other code.

    Unused constants come before the used ones: no loop before that load is `while True`.
    """
    consts = listing.code.consts
    if any(const is True for const in consts) or not any(type(const) is int and const == 1 for const in consts):
        return 0
    loads = (load.offset for load in listing.instructions if load.op == "CONST" and load.arg is consts[-1])
    return next(loads, 0) if len(consts) > 1 else 0


def _leads(literal: tuple[int, int], start: tuple[int, int], column: int | None) -> bool:
    return literal[0] in (start[0], start[0] - 1) and column is not None and literal[1] == column + WHILE


def _is_true(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and test.value is True
