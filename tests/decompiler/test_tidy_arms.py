"""Where each `break` and `continue` has its own code, both stay."""

from __future__ import annotations

import ast

from depyf.decompiler.passes.flow.tidy import tidy

ARMS = "while a:\n    if b:\n        c\n        continue\n    else:\n        d\n        continue"


def tidied(source: str, *, in_order: bool) -> str:
    body = ast.parse(source).body
    tidy(body, in_order=in_order)
    return ast.unparse(ast.Module(body, []))


def test_both_arms_end_alike() -> None:
    assert tidied(ARMS, in_order=False) == "while a:\n    if b:\n        c\n    else:\n        d\n    continue"
    assert tidied(ARMS, in_order=True) == "while a:\n    if b:\n        c\n        continue\n    d\n    continue"


def test_a_test_whose_polarity_tells() -> None:
    source = "if a in b:\n    c\nelse:\n    return d"
    assert tidied(source, in_order=False) == source


def test_a_test_that_is_placed() -> None:
    body = ast.parse("if a:\n    c\nelse:\n    return d").body
    before = ast.unparse(ast.Module(body, []))
    body[0].is_placed = True  # type: ignore[attr-defined]
    tidy(body)
    assert ast.unparse(ast.Module(body, [])) == before
