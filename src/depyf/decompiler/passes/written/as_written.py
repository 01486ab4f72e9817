"""Of several ways to write the same, choose the one that places in the source show."""

from __future__ import annotations

import ast

from depyf.bytecode.code import CO_OPTIMIZED, Code
from depyf.bytecode.listing import Listing
from depyf.decompiler.lift.definitions import ANNOTATE
from depyf.decompiler.passes.written.arms import restore_arms
from depyf.decompiler.passes.written.columns import Columns
from depyf.decompiler.passes.written.conditionals import restore_conditionals
from depyf.decompiler.passes.written.evidence import written_statements
from depyf.decompiler.passes.written.formats import restore_formats
from depyf.decompiler.passes.written.guards import restore_guards
from depyf.decompiler.passes.written.loops import restore_ones
from depyf.decompiler.passes.written.nests import restore_nests
from depyf.decompiler.passes.written.tests import restore_conditional_expressions, restore_tests
from depyf.decompiler.passes.written.ways_out import restore_ways_out


def write_as_written(body: list[ast.stmt], listing: Listing, ops: frozenset[str], has_source: bool) -> None:
    """Rewrite the statements of one code object in place; what has no places stays as it is.

    ops: the operations of the listing.
    has_source: whether its lines are those of a source, not of a program that wrote the code.
    """
    if "FORMAT" in ops:
        restore_formats(body)
    if _is_taken_apart(listing.code):
        restore_conditional_expressions(body)
        return
    if has_source:
        restore_conditionals(body)
    columns = Columns(body)
    restore_nests(body, columns)
    restore_guards(body, columns)
    ending = restore_arms(body, columns)
    written = written_statements(listing, columns.unit)
    if written and listing.code.flags & CO_OPTIMIZED:
        if restore_ways_out(body, columns, written, ending):
            restore_arms(body, columns)
    restore_tests(body, columns)
    restore_ones(body, columns, listing)


def _is_taken_apart(code: Code) -> bool:
    """Return whether an expression, annotations or type parameters take the place of the statements of code."""
    name = code.name
    return (name.startswith(("<", ANNOTATE)) and name != "<module>") or code.parameters == (".format",)
