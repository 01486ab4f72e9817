"""The expression between the brackets of a subscript."""

from __future__ import annotations

import ast

from depyf.decompiler.lift.nodes import Object, constant


def as_index(expr: ast.expr) -> ast.expr:
    """Return a constant slice, or a tuple with slices, as it is written between brackets."""
    if isinstance(expr, ast.Tuple):
        expr.elts = [as_slice(element) for element in expr.elts]
        return expr
    if not isinstance(expr, Object):
        return expr
    if isinstance(expr.value, slice):
        return _slice(expr.value)
    if type(expr.value) is tuple and any(isinstance(item, slice) for item in expr.value):
        elements = [_slice(item) if isinstance(item, slice) else constant(item) for item in expr.value]
        return ast.Tuple(elts=elements, ctx=ast.Load())
    return expr


def as_slice(expr: ast.expr) -> ast.expr:
    """Return a constant slice as it is written between brackets, and any other expression unchanged."""
    return _slice(expr.value) if isinstance(expr, Object) and isinstance(expr.value, slice) else expr


def _slice(value: slice) -> ast.expr:
    bounds = [None if bound is None else constant(bound) for bound in (value.start, value.stop, value.step)]
    return ast.Slice(lower=bounds[0], upper=bounds[1], step=bounds[2])
