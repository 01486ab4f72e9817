"""What is no Python is written as calls and names."""

from __future__ import annotations

import ast
import sys

import pytest

from depyf.bytecode.known_async import AITER, ANEXT, AWAITS
from depyf.decompiler.lift.imports import Import
from depyf.decompiler.lift.nodes import (
    AsyncIter,
    AsyncNext,
    Cell,
    Common,
    Definition,
    GetAwaitable,
    GetIter,
    Object,
    Temp,
    WithExcept,
)
from depyf.decompiler.passes.body import Body
from depyf.decompiler.passes.leftovers import finish_leftovers
from depyf.decompiler.passes.names import Names
from depyf.decompiler.passes.sought import SOUGHT
from depyf.decompiler.passes.walk import of_kinds
from tests.decompiler.parsed import parsed, shown
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b): pass")
A = ast.Name(id="a", ctx=ast.Load())
WHERE = min(AWAITS)
HELD = object()


def finished(stmts: list[ast.stmt], names: Names | None = None) -> str:
    body = Body(CODE, stmts, special=of_kinds(stmts, SOUGHT))
    finish_leftovers(body, names or Names({"a", "b"}), {})
    return shown(stmts)


def test_a_cell_is_that_of_a_function() -> None:
    assert finished([ast.Expr(value=Cell(name="a"))]) == "(lambda: a).__closure__[0]\n"


@pytest.mark.parametrize(
    ("node", "function", "given"),
    [
        (Object(value=HELD), HELD, "{}"),
        (Common(id="len", ctx=ast.Load()), len, "{}"),
        (GetIter(value=A), iter, "{}(a)"),
        (ast.Slice(lower=A), slice, "{}(a, None, None)"),
        (ast.Slice(upper=A, step=A), slice, "{}(None, a, a)"),
        (AsyncIter(value=A), AITER, "{}(a)"),
        (AsyncNext(value=A), ANEXT, "{}(a)"),
        (GetAwaitable(value=A, where=WHERE), AWAITS[WHERE], "{}(a)"),
        (WithExcept(exit=A), sys.exc_info, "a(*{}())"),
    ],
)
def test_what_a_placeholder_stands_for(node: ast.expr, function: object, given: str) -> None:
    names = Names({"a"})
    text = finished([ast.Expr(value=node)], names)
    ((name, held),) = names.objects.items()
    assert text == f"{given.format(name)}\n"
    assert held is function


def test_an_await_that_is_written_stays() -> None:
    node = GetAwaitable(value=A, where=-1)
    stmt = ast.Expr(value=node)
    finished([stmt])
    assert stmt.value is node


@pytest.mark.parametrize("source", ["a[1:b]", "a[1:b, ::2]"])
def test_a_slice_in_brackets_stays(source: str) -> None:
    assert finished(parsed(source)) == f"{source}\n"


def test_temporaries_are_named_in_order() -> None:
    assert finished(parsed("a = v7 + v9; v7")) == "a = tmp_1 + tmp_2\ntmp_1\n"
    names = Names({"a", "weight"})
    assert finished(parsed("v1 = a.weight\nb = v1"), names) == "weight_2 = a.weight\nb = weight_2\n"


def test_a_function_that_a_temporary_stands_for() -> None:
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    stmt = Definition(name="f", args=nothing, body=[ast.Pass()], decorator_list=[], returns=None, lineno=0)
    stmt.target, stmt.type_params = Temp(temp=1), []
    names = Names({"f"})
    assert finished([stmt, *parsed("v1(v1)")], names) == "def f_2():\n    pass\n\n\nf_2(f_2)\n"
    assert names.functions == {"f_2": "f"}
    stmt.name = "f"
    assert finished([stmt], Names({"f"})) == "def f_2():\n    pass\n"
    stmt.name, stmt.target = "f", None
    assert finished([stmt, *parsed("v1")], Names({"f"})) == "def f():\n    pass\n\n\ntmp_1\n"
    stmt.name, stmt.target = "g", Temp(temp=1)
    names = Names({"f"})
    assert finished([stmt], names) == "def g():\n    pass\n"
    assert names.functions == {}


def test_an_import_that_a_temporary_stands_for() -> None:
    stmt = Import([ast.alias(name="m")], [], is_lazy=False)
    stmt.target = Temp(temp=1)
    assert finished([stmt, *parsed("v1")], Names(set())) == "import m as m_2\nm_2\n"
    stmt = Import([ast.alias(name="m")], [], is_lazy=False)
    stmt.target = Temp(temp=1)
    assert finished([stmt], Names(set())) == "import m as m_2\n"
    stmt = Import([ast.alias(name="m.n")], [], is_lazy=False)
    assert finished([stmt, *parsed("v1")], Names(set())) == "import m.n\ntmp_1\n"
    names = Names(set())
    assert finished([stmt], names) == "import m.n\n"
    assert names.taken == {"m"}
    names = Names(set())
    finished([Import([ast.alias(name="m.n", asname="k")], [], is_lazy=False)], names)
    assert names.taken == set()


def test_names_that_cannot_be_written() -> None:
    names = Names({"a", "b c"}, are_writable=False, says_variables=False)
    body = parsed("a = 1; x.y = 2")
    body[0].targets[0].id = "b c"  # type: ignore[attr-defined]
    body[1].targets[0].attr = "d e"  # type: ignore[attr-defined]
    assert finished(body, names) == "b_c = 1\nx.d_e = 2\n"
    assert names.variables == {"b_c": "b c", "d_e": "d e"}
