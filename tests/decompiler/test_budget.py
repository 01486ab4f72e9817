"""How deep Python takes statements inside each other: what is as deep as it may be, and what is one deeper."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.structure.budget import BLOCKS, INDENTS, nests_too_deep

BLOCK = {
    "while a:": 1,
    "for a in b:": 1,
    "async for a in b:": 1,
    "with a:": 1,
    "with a, b:": 2,
    "async with a:": 1,
    "async with a, b, c:": 3,
}
"""Heads, and how many blocks the compiler counts for each."""
TRIES = {
    "try:\n {}\nexcept: pass": 1,
    "try:\n {}\nfinally: pass": 1,
    "try:\n {}\nexcept: pass\nfinally: pass": 2,
    "try: pass\nexcept: pass\nelse:\n {}": 0,
    "try: pass\nexcept: pass\nelse:\n {}\nfinally: pass": 1,
    "try: pass\nfinally:\n {}": 1,
    "try: pass\nexcept:\n {}": 2,
    "try: pass\nexcept A: pass\nexcept:\n {}\nfinally: pass": 3,
    "while a: pass\nelse:\n {}": 0,
    "for a in b: pass\nelse:\n {}": 0,
    "match a:\n case 1:\n  {}": 0,
    "if a:\n {}": 0,
    "if a: pass\nelse:\n {}\n b": 0,
}
"""The same of statements of several parts."""


def nested(text: str, count: int, inside: str) -> list[ast.stmt]:
    """Return statements that stand so many times inside each other."""
    for _ in range(count):
        place = text.index("{}")
        column = place - text.rindex("\n", 0, place) - 1
        inside = text.replace("{}", inside.replace("\n", "\n" + " " * column))
    function = ast.parse("async def f():\n " + inside.replace("\n", "\n ")).body[0]
    assert isinstance(function, ast.AsyncFunctionDef)
    return function.body


def loops(count: int) -> str:
    """Return loops inside each other, each one column further."""
    return "".join(f"{' ' * depth}while a:\n" for depth in range(count)) + " " * count + "pass"


ALL = {**{f"{head}\n {{}}": count for head, count in BLOCK.items()}, **TRIES}


@pytest.mark.parametrize(("text", "blocks"), ALL.items())
def test_blocks_are_counted(text: str, blocks: int) -> None:
    assert not nests_too_deep(nested(text, 1, loops(BLOCKS - blocks)))
    assert nests_too_deep(nested(text, 1, loops(BLOCKS - blocks + 1)))


def test_an_elif_stands_where_its_if_does() -> None:
    chain = ast.parse("if a: pass\n" + "elif a: pass\n" * (2 * INDENTS)).body
    assert not nests_too_deep(chain)
    other = ast.parse("if a: pass\n" + "elif a: pass\n" * 50 + "else:\n b\n if a: pass").body
    assert not nests_too_deep(other)


@pytest.mark.parametrize("text", ["if a:\n {}", "if a: pass\nelse:\n {}\n b"])
def test_indents_are_counted(text: str) -> None:
    built: list[ast.stmt] = [ast.Pass()]
    for count in range(1, INDENTS + 2):
        outer = ast.parse(text.replace("{}", "pass")).body
        holder = next(node for node in ast.walk(outer[0]) if isinstance(node, ast.If))
        kept = holder.orelse or holder.body
        kept[:1] = built
        built = outer
        assert nests_too_deep(built) == (count > INDENTS), count
