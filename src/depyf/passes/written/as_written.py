"""Of several ways to write the same, choose the one that places in the source show."""

from __future__ import annotations

import ast

from depyf.bytecode.code import CO_OPTIMIZED
from depyf.bytecode.listing import Listing
from depyf.passes.written.arms import restore_arms
from depyf.passes.written.columns import Columns
from depyf.passes.written.returns import restore_returns


def write_as_written(body: list[ast.stmt], listing: Listing) -> None:
    """Rewrite the statements of one code object in place; what has no places stays as it is."""
    columns = Columns(body)
    if listing.code.flags & CO_OPTIMIZED:
        restore_returns(body, columns, listing)
    if columns.starts:
        restore_arms(body, columns)
