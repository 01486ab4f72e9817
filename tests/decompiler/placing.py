"""Statements with places in the source: text in, and text out of a pass on what is written."""

from __future__ import annotations

import ast
import re

from depyf.bytecode.places import Place
from depyf.decompiler.lift.extent import note_place

MARK = re.compile(r"#@ (\d+):(-?\d+)$")


def placed(text: str) -> list[ast.stmt]:
    """Return statements; `#@ 3:8` at the end of a line says in which line and column of the source it begins.

    Expressions have places, as those of instructions.
    """
    rows = text.splitlines()
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and (mark := MARK.search(rows[node.lineno - 1])):
            row = rows[node.lineno - 1]
            shift = int(mark[2]) - (len(row) - len(row.lstrip(" ")))
            line = int(mark[1])
            note_place(node, Place(line, node.col_offset + shift, line, (node.end_col_offset or 0) + shift))
    return tree.body
