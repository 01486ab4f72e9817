"""Masks: a negative constant of `&` is written as the opposite of the bits that it clears.

Before: a & -8      After:  a & ~7

The compiler computes `~7`. Nobody writes the other form.
"""

from __future__ import annotations

import ast

from depyf.decompiler.lift.nodes import literal
from depyf.decompiler.passes.walk import of_kinds
from depyf.decompiler.steps import step

MASKING = frozenset({ast.BinOp, ast.AugAssign})


def restore_masks(body: list[ast.stmt]) -> None:
    """Write the negative constants of `&` with `~`, in place."""
    for node in of_kinds(body, MASKING):
        if isinstance(node.op, ast.BitAnd):
            name = "right" if isinstance(node, ast.BinOp) else "value"
            setattr(node, name, _written(getattr(node, name)))


def _written(value: ast.expr) -> ast.expr:
    """Return a constant as it is written behind `&`."""
    if not isinstance(value, ast.Constant) or type(value.value) is not int or value.value >= -1:
        return value
    step("write a mask with `~`")
    return ast.UnaryOp(op=ast.Invert(), operand=literal(~value.value))
