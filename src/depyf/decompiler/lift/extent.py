"""What a node came from: the offsets of the first and last instruction of a statement, and places in the source."""

from __future__ import annotations

import ast

from depyf.bytecode.places import Place

Extent = tuple[int, int]


def note_extent(stmt: ast.stmt, extent: Extent) -> None:
    """Note what a statement came from."""
    stmt.extent = extent  # type: ignore[attr-defined]


def extent_of(node: object) -> Extent | None:
    """Return what a statement or item came from, or None where nobody has noted it."""
    extent: Extent | None = getattr(node, "extent", None)
    return extent


def note_place(node: ast.AST, place: Place | None) -> None:
    """Note where in the source a node stands, or its last instruction."""
    if place is not None:
        node.place = place  # type: ignore[attr-defined]


def place_of(node: ast.AST) -> Place | None:
    """Return where in the source a node stands, or None where nobody has noted it."""
    place: Place | None = getattr(node, "place", None)
    return place


def forget_place(node: ast.AST) -> None:
    """Forget where in the source a node stands."""
    del node.place  # type: ignore[attr-defined]


def note_row(node: ast.AST, line: int | None) -> None:
    """Note on which line a node stands, where nothing says more."""
    if line is not None:
        node.row = line  # type: ignore[attr-defined]


def row_of(node: ast.AST) -> int:
    """Return the line of a node whose place is not known, 0 where nobody has noted it."""
    row: int = getattr(node, "row", 0)
    return row
