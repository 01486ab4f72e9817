"""A formatted text was written with `%` where each field has the location of its value."""

from __future__ import annotations

import ast

import pytest

from depyf.bytecode.places import Place
from depyf.decompiler.lift.extent import note_place, place_of
from depyf.decompiler.lift.nodes import Braced, Percent
from depyf.decompiler.passes.source_form.formats import restore_formats


def restored(
    fields: list[Place | None], values: list[Place | None], source: str = "f'{a!s} of {b!s}'"
) -> ast.JoinedStr:
    """Return a text with locations of its fields and of their values; the text between has the first field's."""
    text = ast.parse(source, mode="eval").body
    assert isinstance(text, ast.JoinedStr)
    parts = [part for part in text.values if isinstance(part, ast.FormattedValue)]
    for part, field, value in zip(parts, fields, values, strict=True):
        if field is not None:
            note_place(part, field)
        if value is not None:
            note_place(part.value, value)
    for part in text.values:
        if isinstance(part, ast.Constant):
            note_place(part, Place(1, 0, 1, 1))
    body: list[ast.stmt] = [ast.Expr(value=text)]
    restore_formats(body)
    assert isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.JoinedStr)
    return body[0].value


A, B, WIDE = Place(1, 5, 1, 6), Place(1, 9, 1, 10), Place(1, 5, 1, 8)


@pytest.mark.parametrize(
    ("fields", "values", "kind"),
    [
        ([A, B], [A, B], Percent),
        ([WIDE, B], [A, B], Braced),
        ([A, WIDE], [A, B], Braced),
        ([A, B], [None, B], Percent),
        ([WIDE, B], [None, B], Braced),
        ([None, B], [A, B], ast.JoinedStr),
        ([A, None], [A, B], ast.JoinedStr),
    ],
)
def test_how_a_text_was_written(fields: list[Place | None], values: list[Place | None], kind: type) -> None:
    assert type(restored(fields, values)) is kind


def test_a_value_of_several_parts_begins_where_its_field_does() -> None:
    assert type(restored([WIDE], [None], "f'{a.b} x'")) is Braced
    text = ast.parse("f'{a.b} x'", mode="eval").body
    assert isinstance(text, ast.JoinedStr) and isinstance(text.values[0], ast.FormattedValue)
    note_place(text.values[0], WIDE)
    value = text.values[0].value
    assert isinstance(value, ast.Attribute)
    note_place(value.value, A)
    body: list[ast.stmt] = [ast.Expr(value=text)]
    restore_formats(body)
    assert isinstance(body[0], ast.Expr) and type(body[0].value) is Percent


def test_the_text_between_has_no_location_of_its_own() -> None:
    first, between, second = restored([A, B], [A, B]).values
    assert (place_of(first), place_of(between), place_of(second)) == (A, None, B)
    assert place_of(restored([WIDE, B], [A, B]).values[1]) is not None


def test_a_text_without_fields_stays() -> None:
    assert type(restored([], [], "f'x'")) is ast.JoinedStr
