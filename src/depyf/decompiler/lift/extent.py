"""Which instructions a statement came from: the offsets of the first and of the last one, for those who show it."""

from __future__ import annotations

import ast

Extent = tuple[int, int]


def note_extent(stmt: ast.stmt, extent: Extent) -> None:
    """Note what a statement came from."""
    stmt.extent = extent  # type: ignore[attr-defined]


def extent_of(node: object) -> Extent | None:
    """Return what a statement or item came from, or None where nobody has noted it."""
    extent: Extent | None = getattr(node, "extent", None)
    return extent
