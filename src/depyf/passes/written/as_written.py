"""Of several ways to write the same, choose the one that places in the source show."""

from __future__ import annotations

import ast

from depyf.passes.written.arms import restore_arms
from depyf.passes.written.columns import Columns


def write_as_written(body: list[ast.stmt]) -> None:
    """Rewrite the statements of one code object in place; what has no places stays as it is."""
    columns = Columns(body)
    if columns.starts:
        restore_arms(body, columns)
