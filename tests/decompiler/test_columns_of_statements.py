"""Where statements begin in the source: the form, and the source whose locations it has."""

from __future__ import annotations

import ast

import pytest

from depyf.bytecode.code import Code
from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from depyf.decompiler.passes.written.columns import Columns, leading_nots
from depyf.decompiler.passes.written.evidence import unclaimed
from tests.decompiler.placing import as_compiled

HEADS = {
    "if a:\n    b()": (1, 0),
    "if not a:\n    b()": (1, 0),
    "while a:\n    b()": (1, 0),
    "for a in b:\n    c()": (1, 0),
    "with a:\n    b()": (1, 0),
    "if a: b()": (1, 0),
    "a = b": (1, 0),
    "a.b = c": (1, 0),
    "a[b] = c": (1, 0),
    "a, b = c": (1, 0),
    "(a, b) = c": (1, 0),
    "*a, b = c": (1, 0),
    "*a.b, c = d": (1, 0),
    "[*a, b] = c": (1, 0),
    "a = b = c": (1, 0),
    "a.b = a = c": (1, 0),
    "del a": (1, 0),
    "del a.b": (1, 0),
    "assert a": (1, 0),
    "assert not a": (1, 0),
    "a()": (1, 0),
    "a += b": (1, 0),
}


def columns_of(source: str) -> tuple[list[ast.stmt], Columns]:
    body = as_compiled(source, source)
    return body, Columns(body)


@pytest.mark.parametrize("source", HEADS)
def test_where_a_statement_begins(source: str) -> None:
    body, columns = columns_of(source)
    assert columns.column(body[0]) == 0
    assert columns.lines(body[0]) == [1]


@pytest.mark.parametrize(
    ("source", "start"),
    [
        ("if a:\n    b()", (1, 3)),
        ("while not a:\n    b()", (1, 10)),
        ("for a, c in b:\n    c()", (1, 4)),
        ("with a, b:\n    c()", (1, 5)),
        ("with a as b, c:\n    d()", (1, 5)),
        ("a.b.c = d", (1, 0)),
        ("a, b.c = d", (1, 0)),
        ("x = a", (1, 0)),
    ],
)
def test_where_the_head_of_a_statement_begins(source: str, start: tuple[int, int]) -> None:
    body, columns = columns_of(source)
    assert columns.starts.get(body[0]) == start


@pytest.mark.parametrize("source", ["pass", "global a", "try:\n    pass\nfinally:\n    pass"])
def test_a_statement_without_a_location(source: str) -> None:
    body, columns = columns_of(source)
    assert columns.column(body[0]) is None
    assert columns.gap(body[0]) is None
    assert columns.of_block(body) is None


def test_a_return_begins_before_its_value() -> None:
    body, columns = columns_of("return a")
    assert columns.column(body[0]) == 0


@pytest.mark.parametrize(
    ("source", "below"),
    [("if a:\n    b()", 4), ("if a:\n  b()", 2), ("if a: b()", None), ("if a:\n    pass\n    b()", 4)],
)
def test_where_a_block_begins(source: str, below: int | None) -> None:
    body, columns = columns_of(source)
    assert columns.below(body[0]) == below


@pytest.mark.parametrize(
    ("source", "column"),
    [("while a:\n    b()", 4), ("for a in b:\n    c()", 4), ("if a:\n    b()", None), ("a()", None), ("pass", None)],
)
def test_where_the_body_of_a_loop_begins(source: str, column: int | None) -> None:
    body, columns = columns_of(source)
    assert columns.of_loop(body[0]) == column


@pytest.mark.parametrize(
    ("source", "gap"), [("if a:\n    b()", 3), ("if (a):\n    b()", 4), ("while not a:\n    b()", 10), ("a()", 0)]
)
def test_what_a_keyword_takes(source: str, gap: int) -> None:
    body, columns = columns_of(source)
    assert columns.gap(body[0]) == gap


@pytest.mark.parametrize(
    ("source", "unit"),
    [
        ("if a:\n    b()", 4),
        ("if a:\n   b()", 3),
        ("if a:\n  b()", 2),
        ("if a:\n b()", 1),
        ("if a: b(); c()\nif d:\n    e()", 4),
        ("if a:\n     b(); c()\nif d:\n    e()\n    e()\n    e()\n    e()", 4),
        ("if a:\n  b()\nif d:\n    e()", 2),
    ],
)
def test_how_far_blocks_are_indented(source: str, unit: int) -> None:
    assert columns_of(source)[1].unit == unit


def test_the_lines_of_a_clause() -> None:
    tree = as_compiled("try:\n    a()\nexcept E:\n    b()\nexcept:\n    c()", "try:\n    a()\nexcept E:\n    b()")
    assert isinstance(tree[0], ast.Try)
    first, last = tree[0].handlers
    columns = Columns(tree)
    assert (columns.lines(first), columns.lines(last)) == ([3], [5])


@pytest.mark.parametrize(
    ("test", "count"), [("a", 0), ("not a", 1), ("not not a", 2), ("-a", 0), ("not a and b", 1), ("a and not b", 0)]
)
def test_leading_nots(test: str, count: int) -> None:
    assert leading_nots(ast.parse(test, mode="eval").body) == count


def idle(source: str) -> list[tuple[int, int]]:
    module = read(compile(source, "<form>", "exec"))
    code = next((const for const in module.consts if isinstance(const, Code)), module)
    return sorted(place[:2] for place in unclaimed(normalise(code)).idle)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def f(a):\n    while a:\n        if a():\n            continue\n        a.b()", (4, 12)),
        ("def f(a):\n    if a:\n        pass\n    a()", (3, 8)),
    ],
)
def test_code_without_an_operation(source: str, found: tuple[int, int]) -> None:
    assert found in idle(source)


def test_code_with_operations_is_not_idle() -> None:
    lines = {line for line, _ in idle("def f(a):\n    a()\n    a.b()")}
    assert lines.isdisjoint({2, 3})
