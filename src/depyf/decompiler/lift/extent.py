"""Record the origins of nodes: the offsets of a statement's first and last instruction, and source locations."""

from __future__ import annotations

import ast

from depyf.bytecode.places import Place

Extent = tuple[int, int]


def note_extent(stmt: ast.stmt, extent: Extent) -> None:
    """Record the instructions of a statement."""
    stmt.extent = extent  # type: ignore[attr-defined]


def extent_of(node: object) -> Extent | None:
    """Return the instructions of a statement or item, or None if they were not recorded."""
    extent: Extent | None = getattr(node, "extent", None)
    return extent


def forget_extent(stmt: ast.stmt) -> None:
    """Remove the instructions of a statement, if they are recorded: it has become another one."""
    if hasattr(stmt, "extent"):
        del stmt.extent


def note_place(node: ast.AST, place: Place | None) -> None:
    """Record the source location of a node, or of its last instruction."""
    if place is not None:
        node.place = place  # type: ignore[attr-defined]


def place_of(node: ast.AST) -> Place | None:
    """Return the source location of a node, or None if it was not recorded."""
    place: Place | None = getattr(node, "place", None)
    return place


def forget_place(node: ast.AST) -> None:
    """Remove the source location of a node."""
    del node.place  # type: ignore[attr-defined]


def note_row(node: ast.AST, line: int | None) -> None:
    """Record the line of a node that has no other source location."""
    if line is not None:
        node.row = line  # type: ignore[attr-defined]


def row_of(node: ast.AST) -> int:
    """Return the line of a node without a source location, 0 if it was not recorded."""
    row: int = getattr(node, "row", 0)
    return row
