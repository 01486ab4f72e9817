"""Returns that come from one statement with a conditional expression."""

from __future__ import annotations

import ast

import pytest

from depyf.bytecode.places import Place
from depyf.decompiler.lift.extent import note_place
from depyf.decompiler.passes.source_form.conditionals import restore_conditionals

WHOLE, BELOW, TEST = Place(1, 0, 1, 20), Place(2, 4, 2, 12), Place(1, 12, 1, 13)


def restored(source: str, *places: Place | None, test: Place | None = TEST, lines: tuple[int, ...] = ()) -> str:
    """Return what becomes of statements; the returns have these places, and are on these lines (or line 1)."""
    body = ast.parse(source).body
    nodes = [node for stmt in body for node in ast.walk(stmt)]
    returns = sorted((node for node in nodes if isinstance(node, ast.Return)), key=lambda node: node.lineno)
    for number, (stmt, place) in enumerate(zip(returns, places, strict=True)):
        note_place(stmt, place)
        stmt.lineno = lines[number] if lines else 1
    for node in nodes:
        if isinstance(node, ast.If):
            node.lineno = 1
            note_place(node.test, test)
    restore_conditionals(body)
    return ast.unparse(ast.Module(body, []))


@pytest.mark.parametrize("source", ["if c:\n    return a\nreturn b", "if c:\n    return a\nelse:\n    return b"])
def test_two_returns_of_one_statement(source: str) -> None:
    assert restored(source, WHOLE, WHOLE) == "return a if c else b"
    assert restored(source, WHOLE, BELOW) == source
    assert restored(source, WHOLE, None) == source
    assert restored(source, BELOW, BELOW) == source
    assert restored(source, WHOLE, WHOLE, test=None) == source
    assert restored(source, WHOLE, WHOLE, lines=(1, 2)) == source


@pytest.mark.parametrize(
    "source",
    [
        "if c:\n    return a\nelse:\n    return b\n    d",
        "if c:\n    e\n    return a\nelse:\n    return b",
        "if c:\n    return a\nelse:\n    d\n    return b",
    ],
)
def test_arms_that_do_more(source: str) -> None:
    assert restored(source, WHOLE, WHOLE) == source


def test_a_return_of_nothing_at_the_end() -> None:
    assert restored("if c:\n    return a", WHOLE) == "return a if c else None"
    assert restored("if c:\n    return a\nd", WHOLE) == "if c:\n    return a\nd"
    assert restored("while x:\n    if c:\n        return a", WHOLE) == "while x:\n    if c:\n        return a"
    assert restored("if c:\n    return a", BELOW) == "if c:\n    return a"


def test_a_return_of_nothing_without_a_place() -> None:
    source = "if c:\n    return\nreturn b"
    assert restored(source, None, WHOLE) == "return None if c else b"
    assert restored(source, None, BELOW) == source
    assert restored(source, None, WHOLE, test=None) == source
    assert restored("if c:\n    return a\nreturn b", None, WHOLE) == "if c:\n    return a\nreturn b"


def test_returns_on_one_line() -> None:
    """Lines alone are known."""
    source = "if c:\n    return a\nreturn b"
    assert restored(source, None, None, test=None) == "return a if c else b"
    assert restored(source, None, None, test=None, lines=(2, 3)) == source
