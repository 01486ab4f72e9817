"""What references to pending values stand for."""

from __future__ import annotations

import ast

from depyf.decompiler.lift.nodes import PURE, Entry, Ref
from depyf.decompiler.lift.references import referred


def pending(expr: ast.expr, replacement: ast.expr | None = None) -> Ref:
    return Ref(entry=Entry(0, expr, PURE, frozenset(), frozenset(), 1, None, [], replacement))


def test_a_reference_stands_for_a_value() -> None:
    first, second = ast.Name("a", ast.Load()), ast.Name("b", ast.Load())
    assert referred(first) is first
    assert referred(pending(first)) is first
    assert referred(pending(first, second)) is second
    assert referred(pending(pending(first))) is first
    assert referred(pending(first, pending(second))) is second
