"""Imports that were one statement, by their locations, or by their lines where those are all that is known."""

from __future__ import annotations

import ast

import pytest

from depyf.bytecode.places import Place
from depyf.decompiler.lift.extent import note_place
from depyf.decompiler.passes.imports import join_imports

HERE, THERE = Place(1, 0, 1, 14), Place(2, 0, 2, 8)


def joined(first: Place | int, other: Place | int, source: str = "import a\nimport b.c as d") -> str:
    body = ast.parse(source).body
    for stmt, place in zip(body, (first, other), strict=True):
        if isinstance(place, int):
            stmt.lineno = place
        else:
            note_place(stmt, place)
    return ast.unparse(ast.Module(join_imports(body), []))


@pytest.mark.parametrize(("first", "other"), [(HERE, HERE), (3, 3)])
def test_imports_of_one_statement(first: Place | int, other: Place | int) -> None:
    assert joined(first, other) == "import a, b.c as d"


@pytest.mark.parametrize(("first", "other"), [(HERE, THERE), (HERE, 1), (1, HERE), (3, 4), (0, 0)])
def test_imports_of_two_statements(first: Place | int, other: Place | int) -> None:
    assert joined(first, other) == "import a\nimport b.c as d"


@pytest.mark.parametrize("source", ["import a\nb", "a\nimport b", "import a\nfrom b import c"])
def test_other_statements_stay(source: str) -> None:
    assert joined(HERE, HERE, source) == source
