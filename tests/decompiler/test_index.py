"""What stands between the brackets of a subscript; since 3.14 a slice may be a constant."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.lift.index import as_index
from depyf.decompiler.lift.nodes import Object, constant

NAME = ast.Name("b", ast.Load())
WRITTEN = [
    (constant(slice(1, None)), "a[1:]"),
    (constant(slice(None, 2, 3)), "a[:2:3]"),
    (constant((slice(None), 1)), "a[:, 1]"),
    (ast.Tuple([constant(slice(None)), NAME], ast.Load()), "a[:, b]"),
    (NAME, "a[b]"),
]
"""Constants and names, and how they are written as an index."""


@pytest.mark.parametrize(("index", "text"), WRITTEN, ids=[text for _, text in WRITTEN])
def test_slices_are_written_with_colons(index: ast.expr, text: str) -> None:
    assert ast.unparse(ast.Subscript(ast.Name("a", ast.Load()), as_index(index), ast.Load())) == text


@pytest.mark.parametrize("value", [frozenset({1}), (frozenset({1}), 2), int], ids=repr)
def test_other_constants_stay(value: object) -> None:
    index = Object(value=value)
    assert as_index(index) is index


def test_other_constants_in_a_tuple_stay() -> None:
    frozen = Object(value=frozenset({1}))
    assert as_index(ast.Tuple([frozen, NAME], ast.Load())).elts == [frozen, NAME]  # type: ignore[attr-defined]
