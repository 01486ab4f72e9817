"""`del a, b`, which is compiled as one `del` for each.

Before: del a      After:  del a, b
        del b

Two targets of one statement are separated by a comma and a space.
"""

from __future__ import annotations

import ast

from depyf.decompiler.lift.extent import place_of
from depyf.decompiler.passes.walk import blocks
from depyf.decompiler.steps import step

COMMA = len(", ")


def restore_deletes(body: list[ast.stmt], has_places: bool) -> None:
    """Join statements that delete, in place; without locations, those on one line."""
    for block in blocks(body):
        for place in range(len(block) - 1, 0, -1):
            first, second = block[place - 1], block[place]
            if isinstance(first, ast.Delete) and isinstance(second, ast.Delete) and _are_one(first, second, has_places):
                step("line {}: join two `del`", first.lineno)
                first.targets += second.targets
                del block[place]


def _are_one(first: ast.Delete, second: ast.Delete, has_places: bool) -> bool:
    if not has_places:
        return getattr(first, "lineno", 0) == getattr(second, "lineno", -1) != 0
    before, behind = place_of(first), place_of(second)
    if before is None or behind is None or len(first.targets) > 1:
        return False
    return behind[:2] == (before.end_line, before.end_column + COMMA)
