"""Statements that delete, and were one."""

from __future__ import annotations

import ast

import pytest

from depyf.bytecode.places import Place
from depyf.decompiler.lift.extent import note_place
from depyf.decompiler.passes.source_form.deletes import restore_deletes

FIRST, NEXT, THIRD, BELOW = Place(1, 4, 1, 5), Place(1, 7, 1, 8), Place(1, 10, 1, 11), Place(2, 4, 2, 5)
Given = tuple["Place | int", ...]


def joined(places: Given, source: str = "del a\ndel b", *, has_places: bool = True) -> str:
    body = ast.parse(source).body
    for stmt, place in zip(body, places, strict=True):
        if isinstance(place, int):
            stmt.lineno = place
        else:
            note_place(stmt, place)
    restore_deletes(body, has_places)
    return ast.unparse(ast.Module(body, []))


@pytest.mark.parametrize(
    ("places", "has_places"), [((FIRST, NEXT), True), ((3, 3), False)], ids=["by places", "by lines"]
)
def test_two_of_one_statement(places: Given, has_places: bool) -> None:
    assert joined(places, has_places=has_places) == "del a, b"


def test_three_of_one_statement() -> None:
    assert joined((FIRST, NEXT, THIRD), "del a\ndel b\ndel c") == "del a, b, c"


@pytest.mark.parametrize(
    ("places", "has_places"),
    [
        ((FIRST, BELOW), True),
        ((FIRST, THIRD), True),
        ((FIRST, 1), True),
        ((1, FIRST), True),
        ((3, 3), True),
        ((3, 4), False),
        ((0, 0), False),
    ],
)
def test_two_statements(places: Given, has_places: bool) -> None:
    assert joined(places, has_places=has_places) == "del a\ndel b"


@pytest.mark.parametrize("source", ["del a\nb", "a\ndel b", "del a, c\ndel b"])
def test_other_statements_stay(source: str) -> None:
    assert joined((FIRST, NEXT), source) == source
