"""The first comparison of a test, which may be the second part of a chain."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.structure.chains import link, turned, with_link


def expr(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def first_comparison(test: ast.expr) -> ast.Compare:
    return next(node for node in ast.walk(test) if isinstance(node, ast.Compare))


@pytest.mark.parametrize(
    ("test", "outcome", "branch"),
    [
        ("b < c", False, "b < c"),
        ("b < c", True, None),
        ("not b < c", True, "b < c"),
        ("not b < c or d", True, "b < c"),
        ("not b < c or d", False, None),
        ("b < c and d", False, "b < c"),
        ("b < c and d", True, None),
        ("d and b < c", False, None),
        ("-(b < c)", False, None),
    ],
)
def test_a_comparison_whose_failure_decides_the_test(test: str, outcome: bool, branch: str | None) -> None:
    given = link(expr(test), outcome)
    assert (given and ast.unparse(given)) == branch


@pytest.mark.parametrize(
    ("test", "outcome", "is_fused", "given"),
    [
        ("x is None", True, True, "not x is not None"),
        ("x is not None", True, True, "not x is None"),
        ("not x is None", False, True, "x is not None"),
        ("x is None or d", True, True, "not x is not None or d"),
        ("x is None", False, True, "x is None"),
        ("x is None", True, False, "x is None"),
        ("x is None and d", True, True, "x is None and d"),
    ],
)
def test_a_comparison_with_none_is_turned(test: str, outcome: bool, is_fused: bool, given: str) -> None:
    whole = expr(test)
    first_comparison(whole).fused = is_fused  # type: ignore[attr-defined]
    assert ast.unparse(turned(whole, outcome)) == given


@pytest.mark.parametrize(
    ("test", "new", "given"),
    [
        ("b < c", "d", "d"), ("not b < c", "d", "not d"), ("not b < c", "not d", "d"), ("not b < c", "-d", "not -d"),
        ("not (b < c or e) and f", "not d", "not (not d or e) and f"),
    ],
)
def test_the_first_comparison_is_replaced(test: str, new: str, given: str) -> None:
    whole = expr(test)
    assert ast.unparse(with_link(whole, first_comparison(whole), expr(new))) == given
