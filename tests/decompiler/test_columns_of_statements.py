"""Where statements begin in the source: the form, and the source whose locations it has."""

from __future__ import annotations

import ast

import pytest

from depyf.bytecode.code import Code
from depyf.bytecode.normalise import normalise
from depyf.bytecode.places import Place
from depyf.bytecode.reader import read
from depyf.decompiler.lift.extent import note_place, place_of
from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.evidence import unclaimed
from depyf.decompiler.passes.source_form.forms import leading_nots
from tests.decompiler.parsed import codes_in, function_of
from tests.decompiler.placing import as_compiled, placed

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
    "*[a, b], c = d": (1, 0),
    "*a[b], c = d": (1, 0),
    "() = a": (1, 0),
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


def start(stmt: ast.stmt, *before: ast.stmt) -> tuple[int, int] | None:
    """Return where a statement behind others begins."""
    return Columns([*before, stmt]).starts.get(stmt)


STORE = Place(3, 4, 3, 9)
"""The location of the operation of a statement."""


def stored(text: str, place: Place | None = STORE) -> ast.stmt:
    """Return a statement of which its own operation has a location, and no other."""
    (stmt,) = ast.parse(text).body
    note_place(stmt, place)
    return stmt


@pytest.mark.parametrize("text", ["a.b = c", "a[b] = c", "raise", "return", "a += b"])
def test_a_statement_begins_where_its_operation_does(text: str) -> None:
    assert start(stored(text)) == (3, 4)
    assert start(stored(text, None)) is None


@pytest.mark.parametrize("text", ["a = c", "a, b = c", "a.b = c.d = e"])
def test_the_operation_of_one_target_says_nothing_of_the_whole(text: str) -> None:
    assert start(stored(text)) is None


def test_a_target_on_two_lines_says_nothing_of_the_first() -> None:
    assert start(stored("a.b = c", Place(3, 4, 4, 9))) is None


def test_a_definition_begins_at_its_store() -> None:
    """Its decorators stand on other lines, and so does what is decorated."""
    for value, begins in (("g", (1, 0)), ("f", (3, 4)), ("d(f)", (3, 4))):
        (stmt,) = placed(f"a = {value}  #@ 1:0")
        assert isinstance(stmt, ast.Assign)
        note_place(stmt, STORE)
        (code,) = codes_in("def f():\n    def g(): pass")
        stmt.value = _Functions(code).visit(stmt.value)
        assert start(stmt) == begins
    assert start(*placed("a = f  #@ 1:0")) == (1, 0)


class _Functions(ast.NodeTransformer):
    """Puts a function in the place of `f`."""

    def __init__(self, code: Code) -> None:
        self.code = code

    def visit_Name(self, node: ast.Name) -> ast.expr:  # noqa: N802  (as ast has it)
        return function_of(self.code) if node.id == "f" else node


def test_the_operation_of_a_statement_stands_before_what_it_takes() -> None:
    (stmt,) = placed("raise a  #@ 1:0")
    note_place(stmt, Place(1, 0, 1, 7))
    assert start(stmt) == (1, 0)


def test_the_first_expression_begins_a_statement() -> None:
    """The operation of a call on two lines has the location of what is called last."""
    (stmt,) = placed("a(b)  #@ 1:0")
    assert isinstance(stmt, ast.Expr)
    note_place(stmt.value, Place(2, 5, 2, 8))
    assert start(stmt) == (1, 0)


@pytest.mark.parametrize("text", ["[a]", "{**a}", "(b, a)", "{b: a}"])
def test_an_expression_begins_where_one_in_it_does(text: str) -> None:
    (stmt,) = ast.parse(text).body
    for node in ast.walk(stmt):
        if isinstance(node, ast.Name) and node.id == "a":
            note_place(node, Place(2, 3, 2, 4))
    assert start(stmt) == (2, 3)


@pytest.mark.parametrize(
    ("text", "begins"), [("a, b = c", (1, 4)), ("b, a = c", None), ("[*a, b] = c", (1, 3)), ("*a, b = c", (1, 3))]
)
def test_a_target_begins_where_its_first_name_does(text: str, begins: tuple[int, int] | None) -> None:
    (stmt,) = ast.parse(text).body
    for node in ast.walk(stmt):
        if isinstance(node, ast.Name) and node.id == "a":
            note_place(node, Place(1, 4, 1, 5))
    assert start(stmt) == begins


def test_a_location_before_other_statements_is_of_another() -> None:
    """What leaves a `with` has the location of the `with`."""
    before, stmt = placed("a()  #@ 3:0\nb(c)  #@ 1:0")
    assert start(stmt, before) is None
    assert [node for node in ast.walk(stmt) if place_of(node) is not None] == []


def test_the_head_of_a_block_without_a_location_is_no_evidence() -> None:
    body, columns = columns_of("if a:\n    try:\n        pass\n    finally:\n        b()")
    assert columns.starts[body[0]] == (1, 3)
    assert columns.gap(body[0]) is None


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
    ("source", "place"),
    [
        ("def f(a):\n    while a:\n        if a():\n            continue\n        a.b()", (4, 12)),
        ("def f(a):\n    if a:\n        pass\n    a()", (3, 8)),
    ],
)
def test_code_without_an_operation(source: str, place: tuple[int, int]) -> None:
    assert place in idle(source)


def test_code_with_operations_is_not_idle() -> None:
    lines = {line for line, _ in idle("def f(a):\n    a()\n    a.b()")}
    assert lines.isdisjoint({2, 3})
