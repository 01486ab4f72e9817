"""What a node came from is noted, asked for and forgotten."""

from __future__ import annotations

import ast

from depyf.bytecode.places import Place
from depyf.decompiler.lift.extent import extent_of, forget_place, note_extent, note_place, note_row, place_of, row_of

PLACE = Place(1, 2, 3, 4)


def test_extents() -> None:
    stmt = ast.Pass()
    assert extent_of(stmt) is None
    note_extent(stmt, (2, 8))
    assert extent_of(stmt) == (2, 8)


def test_places() -> None:
    name = ast.Name("a", ast.Load())
    note_place(name, None)
    assert place_of(name) is None
    note_place(name, PLACE)
    note_place(name, None)
    assert place_of(name) == PLACE
    forget_place(name)
    assert place_of(name) is None


def test_rows() -> None:
    stmt = ast.Pass()
    assert row_of(stmt) == 0
    note_row(stmt, 7)
    note_row(stmt, None)
    assert row_of(stmt) == 7
