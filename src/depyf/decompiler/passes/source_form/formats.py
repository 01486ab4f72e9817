"""Distinguish `%` formatting from f-strings, which compile to the same code.

Before: f'{a!r} of {b!r}'
After:  '%r of %r' % (a, b)

A replacement field with exactly the location of its value has no braces. Then the text between fields has no location
of its own: the compiler gives it that of the previous operation.
"""

from __future__ import annotations

import ast

from depyf.bytecode.places import Place
from depyf.decompiler.lift.extent import forget_place, place_of
from depyf.decompiler.lift.nodes import Braced, Percent
from depyf.decompiler.lift.values import Formatted
from depyf.decompiler.passes.source_form.columns import start_of
from depyf.decompiler.passes.walk import rewrite_expressions
from depyf.decompiler.steps import step

KINDS = frozenset({ast.JoinedStr, Formatted})


def restore_formats(body: list[ast.stmt]) -> None:
    """Mark each f-string with its original form, in place."""
    rewrite_expressions(body, _written, KINDS)


def _written(expr: ast.expr) -> ast.expr:
    assert isinstance(expr, ast.JoinedStr)
    fields = [part for part in expr.values if isinstance(part, ast.FormattedValue)]
    places = [place_of(field) for field in fields]
    if not places or None in places:
        return expr
    is_percent = all(place is not None and _is_alone(field, place) for field, place in zip(fields, places))
    kind = Percent if is_percent else Braced
    if kind is Percent:
        for part in expr.values:
            if isinstance(part, ast.Constant) and place_of(part) is not None:
                forget_place(part)
    step("a text of {} fields was written as {}", len(fields), kind.__name__)
    return kind(expr.values)


def _is_alone(field: ast.FormattedValue, place: Place) -> bool:
    """Return whether a field has the location of its value; a value of several parts has only theirs."""
    inner = place_of(field.value)
    if inner is None and isinstance(field.value, ast.Name):
        return place.end_column - place.column == len(field.value.id)
    return place == inner if inner is not None else place[:2] == start_of(field.value)
