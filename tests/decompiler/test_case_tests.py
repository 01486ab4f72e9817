"""Tests of several cases in one condition: `m` and `n` match a pattern, `j` is a value of several cases."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.lift.nodes import MatchTest, Var
from depyf.decompiler.passes.flow.case_tests import part_cases
from tests.decompiler.parsed import parsed, shown


def match(letter: str) -> ast.expr:
    return MatchTest(subject=ast.Name(id=letter, ctx=ast.Load()), pattern=ast.MatchValue(value=ast.Constant(value=1)))


NODES = {"m": match("m"), "n": match("n")}


def statement(text: str) -> ast.If:
    """Return an `if`; an arm `del _` holds nothing."""
    (stmt,) = parsed(text, nodes=NODES)
    assert isinstance(stmt, ast.If)
    for node in ast.walk(stmt):
        if isinstance(node, ast.If) and isinstance(node.body[0], ast.Delete):
            node.body = []
    return stmt


def parted(text: str) -> str:
    stmt = statement(text)
    part_cases(stmt, lambda test: isinstance(test, Var) and test.id == "j")
    return shown([stmt])


def text_of(text: str) -> str:
    return shown([statement(text)])


PARTED = {
    "a negated pattern": ("if not m:\n    c()", "if m:\n    pass\nelse:\n    c()"),
    "a negated pattern with an else": ("if not m:\n    c()\nelse:\n    d()", "if m:\n    d()\nelse:\n    c()"),
    "two patterns": ("if m or n:\n    pass\nelse:\n    c()", "if m:\n    pass\nelif n:\n    pass\nelse:\n    c()"),
    "two patterns, and nothing": (
        "if m or n:\n    del _\nelse:\n    c()",
        "if m:\n    pass\nelif n:\n    del _\nelse:\n    c()",
    ),
    "two patterns, negated": ("if not (m or n):\n    c()", "if m:\n    pass\nelif n:\n    pass\nelse:\n    c()"),
    "three patterns": (
        "if m or n or m:\n    break\nelse:\n    c()",
        "if m:\n    break\nelif n:\n    break\nelif m:\n    break\nelse:\n    c()",
    ),
    "a value of several cases": (
        "if j or m:\n    pass\nelse:\n    c()",
        "if j:\n    pass\nelif m:\n    pass\nelse:\n    c()",
    ),
    "a value of several cases with a guard": (
        "if j and a or m:\n    return\nelse:\n    c()",
        "if j and a:\n    return\nelif m:\n    return\nelse:\n    c()",
    ),
    "a constant that is returned": (
        "if m or n:\n    return 1\nelse:\n    c()",
        "if m:\n    return 1\nelif n:\n    return 1\nelse:\n    c()",
    ),
    "a negated pattern, and another": (
        "if not m and n:\n    c()\nelse:\n    return",
        "if m:\n    return\nelif n:\n    c()\nelse:\n    return",
    ),
}
STAYS = {
    "no pattern": "if not (a or b):\n    c()",
    "a pattern with a guard": "if m and a:\n    c()",
    "a test before a pattern": "if a or m:\n    pass\nelse:\n    c()",
    "two tests before a pattern": "if a and b or m:\n    pass\nelse:\n    c()",
    "another operator": "if -m:\n    c()",
    "an arm that does something": "if m or n:\n    c()\nelse:\n    d()",
    "an arm that returns what it computes": "if m or n:\n    return a\nelse:\n    d()",
}


@pytest.mark.parametrize("case", PARTED)
def test_each_part_tests_one_pattern(case: str) -> None:
    form, given = PARTED[case]
    assert parted(form) == text_of(given)


@pytest.mark.parametrize("case", STAYS)
def test_another_test_is_one(case: str) -> None:
    assert parted(STAYS[case]) == text_of(STAYS[case])
