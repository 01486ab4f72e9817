"""What lines say about statements: how a return of nothing was spelled, and where statements begin."""

from __future__ import annotations

import ast

import pytest

from depyf.bytecode.code import Code
from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from depyf.decompiler.passes.source_form.evidence import Kind
from depyf.decompiler.passes.source_form.lines import Lines
from tests.decompiler.placing import as_compiled


def lines_of(source: str) -> Lines:
    module = read(compile(source, "<form>", "exec"))
    return Lines(normalise(next(const for const in module.consts if isinstance(const, Code))))


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def f(a):\n    return", Kind.RETURN),
        ("def f(a):\n    if a:\n        return 1\n    return", Kind.RETURN),
        ("def f(a):\n    if a:\n        return 1\n    if a.b:\n        return 2\n    return", Kind.NONE),
        ("def f(a):\n    if a:\n        return a\n    return", Kind.NONE),
        ("def f(a):\n    if a:\n        return 1\n    yield", Kind.RETURN),
        ("def f(a):\n    with a:\n        return\n    a()", Kind.RETURN),
        ("def f(a):\n    try:\n        a()\n    except E as e:\n        return\n    a.b()", Kind.RETURN),
        ("def f(a):\n    try:\n        a()\n    except E as e:\n        return a\n    a.b()", Kind.NONE),
    ],
)
def test_how_a_return_of_nothing_is_spelled(source: str, kind: Kind) -> None:
    assert lines_of(source).bare is kind


@pytest.mark.parametrize(
    ("source", "exits"),
    [
        ("def f(a):\n    if a:\n        return\n    a()", [(3, Kind.RETURN)]),
        ("def f(a):\n    while a:\n        if a():\n            continue\n        a.b()", [(4, Kind.CONTINUE)]),
        ("def f(a):\n    a()", []),
        ("def f(a):\n    return a", []),
        ("def f(a):\n    if a:\n        return a\n    if a.b:\n        return\n    a()", [(5, Kind.NONE)]),
    ],
)
def test_exits_on_lines_of_their_own(source: str, exits: list[tuple[int, Kind]]) -> None:
    lines = lines_of(source)
    assert [(way_out.line, way_out.kind) for way_out in lines.ways_out if way_out.line in dict(exits)] == exits
    assert all(way_out.column is None for way_out in lines.ways_out)


def test_an_exit_between_two_lines() -> None:
    lines = lines_of("def f(a):\n    if a:\n        return\n    a()")
    assert lines.leaves_between(2, 4)
    assert not lines.leaves_between(3, 4)
    assert not lines.leaves_between(2, 3)


@pytest.mark.parametrize(("first", "last", "has_room"), [(2, 3, False), (2, 4, True), (2, 5, False), (3, 5, True)])
def test_room_for_an_exit_where_not_all_have_lines(first: int, last: int, has_room: bool) -> None:
    """There an exit has a known line, or the one line between two tests."""
    assert lines_of("def f(a):\n    if a:\n\n        a()\n    a()").has_room(first, last) is (has_room or last == 5)


@pytest.mark.parametrize(("first", "last", "has_room"), [(2, 4, False), (3, 5, True), (2, 3, False), (1, 5, True)])
def test_room_for_an_exit(first: int, last: int, has_room: bool) -> None:
    """From 3.10 on each exit has a line with instructions: line 3 has none here."""
    lines = lines_of("def f(a):\n    if a:\n\n        return\n    a()")
    lines.has_all = True
    assert lines.has_room(first, last) is has_room


def test_a_break_without_a_line_is_below_the_statement_before_it() -> None:
    """An exit that another pass has written has a line."""
    source = "def f(a):\n    while a:\n        a()\n        break"
    lines, (function,) = lines_of(source), as_compiled(source, source, has_columns=False)
    block = [stmt for stmt in ast.walk(function) if isinstance(stmt, ast.stmt)][-2:]
    call, exit_ = sorted(block, key=lambda stmt: isinstance(stmt, ast.Break))
    del exit_.lineno
    assert (lines.last([call, exit_]), lines.last([call]), lines.last([exit_])) == (4, 3, 0)
    exit_.lineno = 3
    assert lines.last([call, exit_]) == 3
