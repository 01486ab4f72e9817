"""Choose the form that source locations show among several equivalent ones."""

from __future__ import annotations

import ast

from depyf.bytecode.code import CO_OPTIMIZED, Code
from depyf.bytecode.listing import Listing
from depyf.decompiler.lift.definitions import ANNOTATE, LAZY
from depyf.decompiler.passes.conditions import structures
from depyf.decompiler.passes.registry import WRITTEN, Stage, registers
from depyf.decompiler.passes.source_form.arms import restore_arms
from depyf.decompiler.passes.source_form.arms_by_lines import restore_arms_by_lines
from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.conditionals import restore_conditionals
from depyf.decompiler.passes.source_form.debug import restore_debug
from depyf.decompiler.passes.source_form.deletes import restore_deletes
from depyf.decompiler.passes.source_form.evidence import DELETES, Kind
from depyf.decompiler.passes.source_form.formats import restore_formats
from depyf.decompiler.passes.source_form.forms import LOOPS
from depyf.decompiler.passes.source_form.lines import Lines
from depyf.decompiler.passes.source_form.loop_exits import restore_left_loops
from depyf.decompiler.passes.source_form.loops import restore_ones
from depyf.decompiler.passes.source_form.masks import restore_masks
from depyf.decompiler.passes.source_form.splits import split_tests
from depyf.decompiler.passes.source_form.splits_by_lines import split_tests_by_lines
from depyf.decompiler.passes.source_form.tests import restore_conditional_expressions, restore_tests
from depyf.decompiler.passes.source_form.ways_out import drop_unreached_breaks, restore_ways_out
from depyf.decompiler.passes.walk import compound, compounds, statements

TESTED = (ast.If, ast.While)
"""The statements whose tests may be those of several statements."""
REMOVING = DELETES | {"LOAD_FAST_CLEAR"}
"""The operations that are written as `del`."""


@registers(
    WRITTEN,
    Stage.STATEMENTS,
    "among equivalent forms, choose the author's",
    takes=("stmts", "listing", "ops", "known", "has_conditions"),
    optional=True,
    applies=structures,
    after={"expressions": "the positions of finished expressions are compared"},
)
def choose_source_form(
    body: list[ast.stmt], listing: Listing, ops: frozenset[str], known: object, has_conditions: bool
) -> None:
    """Rewrite the statements of one code object in place.

    Args:
        body: the statements.
        listing: the instructions with their locations.
        ops: the operations of the listing.
        known: the facts about program-written code; None if the code comes from a source.
        has_conditions: whether the code may contain `and`, `or` or conditional expressions.
    """
    write_as_written(body, listing, ops, has_source=known is None, has_conditions=has_conditions)


def write_as_written(
    body: list[ast.stmt], listing: Listing, ops: frozenset[str], *, has_source: bool, has_conditions: bool = True
) -> None:
    """Rewrite the statements of one code object in place; statements without locations do not change.

    Args:
        body: the statements.
        listing: the instructions with their locations.
        ops: the operations of the listing.
        has_source: whether the lines are those of a source, not of a program that wrote the code.
        has_conditions: whether the code may contain `and`, `or` or conditional expressions.
    """
    if "FORMAT" in ops:
        restore_formats(body)
    if _is_taken_apart(listing.code):
        if has_source and listing.code.parameters == LAZY:
            restore_conditionals(body)
            has_conditions = True
        if has_conditions:
            restore_conditional_expressions(body)
        return
    if has_source:
        if "BINARY" in ops or "INPLACE" in ops:
            restore_masks(body)
        restore_conditionals(body)
    columns = Columns(body, listing)
    if not listing.places:
        if has_source:
            restore_deletes(body, has_places=False)
            _by_lines(body, columns, listing)
        restore_tests(body, columns, has_conditions)
        restore_ones(body, columns, listing)
        return
    if compound(body):
        _restore_nested(body, columns, listing)
    elif _has_ways_out(listing):
        restore_ways_out(body, columns, columns.written, set())
    restore_tests(body, columns, has_conditions)
    if not REMOVING.isdisjoint(ops):
        restore_deletes(body, has_places=True)
    restore_debug(body, columns)


def _has_ways_out(listing: Listing) -> bool:
    """Return whether exits of the code may be implicit, and have locations."""
    return bool(listing.code.flags & CO_OPTIMIZED) and any(listing.places)


def _restore_nested(body: list[ast.stmt], columns: Columns, listing: Listing) -> None:
    """Rewrite nested statements in place."""
    kinds = {type(stmt) for stmt in compounds(body)}
    if not kinds.isdisjoint(LOOPS):
        restore_left_loops(body, columns)
    if not kinds.isdisjoint(TESTED):
        split_tests(body, columns)
    written = columns.written
    ending = restore_arms(body, columns)
    if _has_ways_out(listing) and restore_ways_out(body, columns, written, ending):
        ending = restore_arms(body, columns)
        if drop_unreached_breaks(body, ending):
            restore_ways_out(body, columns, written, ending)
    if ast.While in kinds:
        restore_ones(body, columns, listing)


def _by_lines(body: list[ast.stmt], columns: Columns, listing: Listing) -> None:
    """Rewrite the statements of code that has lines and no columns."""
    lines = Lines(listing)
    split_tests_by_lines(body, columns, lines, _depth(listing.code))
    for stmt in statements(body):
        if isinstance(stmt, ast.Return) and isinstance(stmt.value, ast.Constant) and stmt.value.value is None:
            stmt.value = None
    ending = restore_arms_by_lines(body, lines)
    written = lines.ways_out if listing.code.flags & CO_OPTIMIZED else []
    if written and restore_ways_out(body, columns, written, ending, has_all=False, is_generator=lines.is_generator):
        restore_arms_by_lines(body, lines)
    for stmt in statements(body):
        if isinstance(stmt, ast.Return) and stmt.value is None and lines.bare is Kind.NONE:
            stmt.value = ast.Constant(value=None)


def _depth(code: Code) -> int:
    """Return the most probable nesting depth of code's statements: two for those of methods."""
    return 0 if not code.flags & CO_OPTIMIZED else 2 if code.parameters[:1] in (("self",), ("cls",)) else 1


def _is_taken_apart(code: Code) -> bool:
    """Return whether the code becomes an expression, annotations or type parameters instead of statements."""
    name = code.name
    return (name.startswith(("<", ANNOTATE)) and name != "<module>") or code.parameters == LAZY
