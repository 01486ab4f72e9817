"""Resolve references to pending values."""

from __future__ import annotations

import ast

from depyf.decompiler.lift.nodes import Ref


def referred(expr: ast.expr) -> ast.expr:
    """Return the expression for a reference to a pending value."""
    while isinstance(expr, Ref):
        entry = expr.entry
        expr = entry.replacement if entry.replacement is not None else entry.expr
    return expr
