"""Statements that never fall through."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.passes.source_form.arms import never_falls_through

LEAVES = [
    "return",
    "raise a",
    "if a:\n    return\nelse:\n    raise b",
    "while True:\n    a",
    "while a:\n    b\nelse:\n    return",
    "for a in b:\n    c\nelse:\n    raise d",
    "try:\n    return\nexcept a:\n    raise",
    "try:\n    a\nfinally:\n    return",
    "try:\n    a\nexcept b:\n    return\nelse:\n    return",
    "while True:\n    for a in b:\n        break",
]
GOES_ON = [
    "a",
    "if a:\n    return",
    "if a:\n    return\nelse:\n    b",
    "if a:\n    b\nelse:\n    return",
    "while a:\n    b",
    "while False:\n    a",
    "while True:\n    break",
    "while True:\n    if a:\n        break",
    "for a in b:\n    return",
    "while a:\n    break\nelse:\n    return",
    "for a in b:\n    c\nelse:\n    d",
    "try:\n    return\nexcept a:\n    b",
    "try:\n    a\nexcept b:\n    return",
    "try:\n    a\nfinally:\n    b",
    "with a:\n    return",
    "try:\n    return\nexcept a:\n    return\nelse:\n    b",
    "while True:\n    for a in b:\n        c\n    else:\n        break",
]


def never_falls(source: str) -> bool:
    (stmt,) = ast.parse(source).body
    ends = (ast.Return, ast.Raise, ast.Break, ast.Continue)
    return never_falls_through(stmt, {node for node in ast.walk(stmt) if isinstance(node, ends)})


@pytest.mark.parametrize("source", LEAVES)
def test_a_statement_that_never_falls_through(source: str) -> None:
    assert never_falls(source)


@pytest.mark.parametrize("source", GOES_ON)
def test_a_statement_that_does(source: str) -> None:
    assert not never_falls(source)
