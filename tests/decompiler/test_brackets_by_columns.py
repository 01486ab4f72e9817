"""Operands of a test that stood between brackets, by their columns."""

from __future__ import annotations

import ast

import pytest

from depyf.bytecode.places import Place
from depyf.decompiler.lift.extent import place_of
from depyf.decompiler.passes.source_form import columns
from depyf.decompiler.passes.source_form.brackets import gap_between, group, turned_runs
from tests.decompiler.placing import as_compiled


def condition(form: str, source: str) -> ast.BoolOp:
    (stmt,) = as_compiled(form, f"({source})")
    assert isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.BoolOp)
    return stmt.value


def grouped(form: str, source: str) -> str:
    test = condition(form, source)
    group(test)
    return shape(test)


def shape(test: ast.expr) -> str:
    """Return a test with brackets around each condition in it."""
    if isinstance(test, ast.BoolOp):
        word = " and " if isinstance(test.op, ast.And) else " or "
        return word.join(f"({shape(part)})" if isinstance(part, ast.BoolOp) else shape(part) for part in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.operand, ast.BoolOp):
        return f"not ({shape(test.operand)})"
    return ast.unparse(test)


@pytest.mark.parametrize(
    "source",
    [
        "a and b and c",
        "a and (b and c) and d",
        "a and (b and c)",
        "a.b and (c and d) and e",
        "a == b and (c and d) and e",
        "(a == b) and (c == d) and (e == f)",
        "a or (b or c) or d",
        "a and (not b and c) and d",
        "a and\\\nb and c",
        "a and (b and\n c) and d",
        "a and b and c and (d and e) and f",
        "(a and b) and c",
        "a() and (b() and\n         c())",
        "a() and\\\n b() and c()",
        "(a + x) and b() and\\\n c()",
    ],
)
def test_operands_between_brackets(source: str) -> None:
    on_one_line = " ".join(source.replace("\\\n", " ").split())
    form = on_one_line.replace("()", "!").replace("(", "").replace(")", "").replace("!", "()")
    for operand in ("(a == b)", "(c == d)", "(e == f)", "(a + x)"):
        on_one_line = on_one_line.replace(operand, operand[1:-1])
    assert grouped(form, source) == on_one_line


def test_an_operand_with_its_own_brackets_is_no_evidence() -> None:
    source = "a and\\\n (b or c) and d"
    assert grouped("a and (b or c) and d", source) == "a and (b or c) and d"
    assert grouped("a and b and d", "a and\\\n (b and d)") == "a and (b and d)"


@pytest.mark.parametrize("source", ["x", "a", "b"])
def test_operands_without_places_stay(source: str) -> None:
    assert grouped("a and b and c", source) == "a and b and c"


def test_the_columns_between_operands() -> None:
    test = condition("a and b and c", "a and (b and\n c)")
    first, second, third = test.values
    assert gap_between(first, second) == len(" and (")
    assert gap_between(second, third) is None
    assert gap_between(first, ast.Name(id="x", ctx=ast.Load())) is None


def test_each_operand_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long conditions take linear time."""
    measured: list[ast.AST] = []

    def noted(node: ast.AST) -> Place | None:
        measured.append(node)
        return place_of(node)

    source = "a"
    for number in range(60):
        source = f"b{number} {'or' if number % 2 else 'and'} ({source})"
    outer: ast.expr = condition(source, source)
    monkeypatch.setattr(columns, "place_of", noted)
    while isinstance(outer, ast.BoolOp):
        group(outer)
        outer = outer.values[-1]
    assert len(measured) == len(set(measured)) > 60


# -- not before several ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "source", "turns", "given"),
    [
        ("a and not b and not c", "a and not (b or c)", "111", "a and not (b or c)"),
        ("not a and not b and c", "not (a or b) and c", "111", "not (a or b) and c"),
        ("not a and not b and not c", "not (a or b or c)", "111", "not a and not b and not c"),
        ("a and not b and not c and not d", "a and not (b or c or d)", "1111", "a and not (b or c or d)"),
        (
            "not a and not b and c and not d and not e",
            "not (a or b) and c and not (d or e)",
            "11111",
            "not (a or b) and c and not (d or e)",
        ),
        ("a or not b or not c", "a or not (b and c)", "111", "a or not (b and c)"),
        ("a and not b and not c", "a and not (b or c)", "101", "a and not b and not c"),
        ("a and not b and not c", "a and not (b or c)", "110", "a and not b and not c"),
        ("a and not b and not c", "a and not b and not c", "111", "a and not b and not c"),
        ("a and not b and c", "a or b and c", "111", "a and not b and c"),
        ("not a and b and c", "a or b and c", "111", "not a and b and c"),
        ("not a and b and c", "a or     b and c", "111", "not a and b and c"),
    ],
)
def test_not_before_several(form: str, source: str, turns: str, given: str) -> None:
    test = condition(form, source)
    turned_runs(test, [turn == "1" for turn in turns])
    assert shape(test) == given
