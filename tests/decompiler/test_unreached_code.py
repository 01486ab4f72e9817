"""What code that is gone has left is found, and written where it is never reached."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Instruction, Listing
from depyf.bytecode.normalise import normalise
from depyf.decompiler.lift.nodes import Cell, Var
from depyf.decompiler.passes.scopes import own_variables
from depyf.decompiler.passes.unreached import Reached, Unreached, unreached
from tests.decompiler.parsed import parsed, plain, shown
from tests.decompiler.test_forms import code_of

NOTHING = Reached(frozenset(), frozenset())
ALL = Unreached(
    bound=("a", "b"), captured=("c",), read=("d",), yields=True, awaits=True, inside=("e",), named=("f",),
    looped=("g",), used=("h",),
)


def test_statements_that_are_never_reached() -> None:
    assert shown(ALL.statements()) == "if False:\n    a = b = None\n    lambda: c\n    [lambda: g for g in ()]\n"
    assert Unreached(read=("d",), used=("h",), yields=True).statements() == []
    assert shown(Unreached(looped=("g",)).statements()) == "if False:\n    [lambda: g for g in ()]\n"
    assert shown(Unreached(captured=("c", "d")).statements()) == "if False:\n    lambda: (c, d)\n"


def test_expressions_that_are_never_reached() -> None:
    x = ast.Name(id="x", ctx=ast.Load())
    parts = ["a := None", "b := None", "f := None", "[None for e in ()]", "d", "h", "lambda: c", "yield", "await None"]
    assert [plain(part).strip("()") if part else "" for part in ALL.parts(binds=True)] == [p.strip("()") for p in parts]
    assert len(ALL.parts(binds=False)) == len(parts) - 2
    assert plain(Unreached(read=("d",)).beside(x)) == "x if True else d"
    assert plain(Unreached(read=("d", "e")).beside(x)) == "x if True else (d, e)"
    assert Unreached(bound=("a",)).beside(x, binds=False) is x


# -- what is found ---------------------------------------------------------------------------

SCOPES = {"g": "global", "d": "deref"}


def inner(source: str) -> Code:
    return next(const for const in code_of(source).consts if isinstance(const, Code))


def found(
    code: Code, source: str, reached: Reached = NOTHING, unused: tuple[str, ...] = (), b: str = "fast"
) -> Unreached:
    stmts = parsed(source, {**SCOPES, "b": b})
    inside: list[Var] = []
    special: list[ast.AST] = []
    own_names = own_variables(stmts, True, inside, special)
    return unreached(code, stmts, own_names, inside, special, unused, reached)


FUNCTION = code_of("def f(a):\n    b = c = a\n    return b, c")


@pytest.mark.parametrize(
    ("source", "bound"),
    [
        ("b = a; b", ()),
        ("a = b", ("b",)),
        ("a = b; a = c", ("b", "c")),
        ("a = g", ()),
        ("[b for b in a]", ()),
        ("[b for c in a]", ("b",)),
        ("b; [b for b in a]", ("b",)),
        ("b; [(b := a) for c in a]", ()),
        ("try: a\nexcept a as b: b", ()),
    ],
)
def test_variables_that_nothing_binds(source: str, bound: tuple[str, ...]) -> None:
    assert found(FUNCTION, source) == Unreached(bound=bound)


@pytest.mark.parametrize("scope", ["global", "deref"])
def test_another_variable_of_the_same_name(scope: str) -> None:
    assert found(FUNCTION, "a = b", b=scope) == found(FUNCTION, "[b for a in a]", b=scope) == Unreached()


TAKEN = code_of("def f(a):\n    d = b = a\n    return lambda: d")


def test_a_variable_that_no_function_takes() -> None:
    assert found(TAKEN, "d = a") == Unreached(captured=("d",))
    assert found(TAKEN, "a") == Unreached(bound=("d",), captured=("d",))
    assert found(TAKEN, "d = a", Reached(frozenset(), frozenset({"d"}))) == Unreached()
    assert found(TAKEN, "a", Reached(frozenset(), frozenset({"d"}))) == Unreached(bound=("d",))
    assert found(TAKEN, "a = d", Reached(frozenset(), frozenset({"d"}))) == Unreached(bound=("d",))


def test_a_variable_whose_cell_is_used() -> None:
    cell = Cell(name="d")
    stmts: list[ast.stmt] = [*parsed("d = a", SCOPES), ast.Expr(value=cell)]
    assert unreached(TAKEN, stmts, own_variables(stmts, True), [], [cell], (), NOTHING) == Unreached()


def test_a_variable_of_the_code_around_is_not_its_own() -> None:
    method = inner("def f(d):\n    def inner(a): return d")
    assert found(method, "a = d") == Unreached()
    assert found(method, "a", unused=("d",)) == Unreached(read=("d",))
    assert found(method, "a", Reached(frozenset(), frozenset({"d"}))) == Unreached()


def test_the_variables_of_a_class_are_apart() -> None:
    code = code_of("class A:\n    def f(self): return __class__")
    assert found(code, "a", unused=("d", ".0")) == Unreached(captured=("__class__", "d"))


def test_a_module_has_comprehensions_with_cells() -> None:
    code = code_of("x = 1")
    assert found(code, "a") == Unreached()
    with_cell = replace(code, cellvars=("c",))
    assert found(with_cell, "a") == Unreached(looped=("c",))
    assert found(with_cell, "a", Reached(frozenset(), frozenset(), frozenset({"c"}))) == Unreached()


@pytest.mark.parametrize(
    ("source", "ops", "yields", "awaits"),
    [
        ("def f(): return lambda: (yield)", (), True, False),
        ("def f(): return lambda: (yield)", ("YIELD",), False, False),
        ("def f(): return lambda: 1", (), False, False),
        ("def f():\n    def g(): yield", (), False, False),
        ("def f():\n    async def g(): pass", (), False, True),
        ("def f():\n    async def g(): yield", (), False, True),
        ("def f():\n    async def g(): pass", ("GET_AWAITABLE",), False, False),
    ],
)
def test_what_code_did_before_it_was_gone(source: str, ops: tuple[str, ...], yields: bool, awaits: bool) -> None:
    assert found(inner(source), "a", Reached(frozenset(ops), frozenset())) == Unreached(yields=yields, awaits=awaits)


def test_what_is_reached() -> None:
    reached = Reached.of(normalise(code_of("def f(a):\n    d = a\n    return lambda: d")))
    assert reached.shared == {"d"} and "STORE_DEREF" in reached.ops
    rows = [Instruction(op, arg, -1, 0, None, -1) for op, arg in (("MAKE_CELL", "c"), ("LOAD", "x"))]
    expected = Reached(frozenset({"MAKE_CELL", "LOAD"}), frozenset(), frozenset({"c"}))
    assert Reached.of(Listing(FUNCTION, rows, [])) == expected
