"""What a body binds outside itself is declared, and so is what it reads that the code around has a variable for."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from depyf.bytecode.code import Code
from depyf.decompiler.lift.nodes import Var
from depyf.decompiler.passes.body import Body
from depyf.decompiler.passes.scopes import declare, own_variables, shadow, variables_of
from depyf.decompiler.passes.unreached import Reached
from tests.decompiler.parsed import parsed, shown, steps_of
from tests.decompiler.test_forms import code_of

NOTHING = Reached(frozenset(), frozenset())


def inner(source: str) -> Code:
    """Return the code inside of the function or class that a source defines."""
    return next(const for const in code_of(source).consts if isinstance(const, Code))


FUNCTION = code_of("def f(a, b): c = a")
METHOD = inner("def f(d):\n    def inner(a, b): return d")
CLASS = code_of("class A: x = 1")
MODULE = code_of("x = 1")
LAMBDA = inner("def f(d): return lambda a: d")
SCOPES = {"g": "global", "h": "global", "d": "deref", "n": "name"}


def declared(code: Code, source: str, reached: Reached = NOTHING) -> tuple[str, set[str]]:
    body = Body(code, parsed(source, SCOPES))
    declare(body, reached)
    return shown(body.stmts), body.global_reads


@pytest.mark.parametrize(
    ("source", "given", "reads"),
    [
        ("a = b", "", set()),
        ("g = a", "global g\n", set()),
        ("h = 1; g = 2", "global g, h\n", set()),
        ("a = g", "", {"g"}),
        ("g = g + h", "global g\n", {"h"}),
        ("[g for a in b]", "", {"g"}),
    ],
)
def test_globals_of_a_function(source: str, given: str, reads: set[str]) -> None:
    text, declared_reads = declared(FUNCTION, source)
    assert text == given + shown(parsed(source))
    assert declared_reads == reads


@pytest.mark.parametrize(
    ("source", "given", "reads"),
    [("n = g", "global g\n", set()), ("g = n", "global g\n", set()), ("n = [g for a in b]", "", {"g"})],
)
def test_globals_of_a_class(source: str, given: str, reads: set[str]) -> None:
    text, declared_reads = declared(CLASS, source)
    assert text == given + shown(parsed(source))
    assert declared_reads == reads


def test_globals_of_a_module() -> None:
    """Its comprehensions see its names as it does."""
    assert declared(MODULE, "n = [g for n in n]") == ("global g\nn = [g for n in n]\n", {"g"})


@pytest.mark.parametrize(
    ("source", "given"),
    [
        ("d = a", "nonlocal d\n"),
        ("a = d", ""),
        ("a = b", "nonlocal d\n"),
    ],
)
def test_variables_of_the_code_around(source: str, given: str) -> None:
    """One that nothing names is declared: what named it has left no operation."""
    assert declared(METHOD, source)[0] == given + shown(parsed(source))


def test_a_variable_of_its_own_that_a_function_takes_is_not_declared() -> None:
    code = code_of("def f(a, b):\n    d = a\n    return lambda: d")
    assert declared(code, "d = a", Reached(frozenset(), frozenset({"d"})))[0] == "d = a\n"


def test_a_variable_that_a_function_inside_takes_is_not_declared() -> None:
    assert declared(METHOD, "a = b", Reached(frozenset(), frozenset({"d"})))[0] == "a = b\n"


def test_super_uses_the_class() -> None:
    code = inner("class A:\n    def f(self): return super().x")
    assert declared(code, "super()", NOTHING)[0] == "super()\n"
    assert declared(code, "self", NOTHING)[0] == "nonlocal __class__\nself\n"


def test_code_that_is_an_expression_declares_nothing() -> None:
    body = Body(LAMBDA, parsed("g = a", SCOPES))
    declare(body, NOTHING)
    assert shown(body.stmts) == "g = a\n"
    assert body.global_reads == {"g"}
    assert body.unreached.read == ("d",)


UNREACHED = code_of("def f(a, b):\n    c = 1\n    return lambda: c")


def test_what_is_never_reached_stands_first_in_a_function() -> None:
    never = "if False:\n    c = None\n    lambda: c\n"
    assert declared(UNREACHED, "a = b")[0] == never + "a = b\n"
    assert declared(UNREACHED, "g = b")[0] == "global g\n" + never + "g = b\n"


def test_what_is_never_reached_stands_last_in_a_class() -> None:
    code = code_of("class A:\n    def f(self): return __class__")
    assert declared(code, "n = 1; n = 2")[0] == "n = 1\nn = 2\nif False:\n    lambda: __class__\n"
    taken = Reached(frozenset(), frozenset({"__class__"}))
    assert declared(code, "n = 1", taken)[0] == "n = 1\n"
    assert declared(replace(MODULE, cellvars=("c",)), "n = 1")[0] == "n = 1\nif False:\n    [lambda: c for c in ()]\n"


def test_the_scope_of_type_parameters_has_nothing_that_is_never_reached() -> None:
    assert declared(replace(UNREACHED, name="<generic parameters of f>"), "a = b")[0] == "a = b\n"


def test_a_free_variable_without_a_name_is_not_declared() -> None:
    assert declared(replace(METHOD, freevars=(".d",)), "a = b")[0] == "a = b\n"


@pytest.mark.parametrize(
    ("code", "source", "steps"),
    [(FUNCTION, "g = a", ["1 declarations come first"]), (FUNCTION, "a = b", [])],
)
def test_the_step_that_is_told(code: Code, source: str, steps: list[str]) -> None:
    assert steps_of(lambda: declared(code, source)) == steps
    assert len(steps_of(lambda: declared(UNREACHED, source))) == 1


# -- what the code around has as its variables -------------------------------------------------


def test_the_variables_of_code() -> None:
    assert variables_of(METHOD) == {"a", "b", "d"}
    assert variables_of(CLASS) == frozenset()


def shadowed(code: Code, reads: set[str], local: set[str], inside: Code | None = None) -> tuple[str, str, set[str]]:
    body, other = Body(code, [ast.Pass()], set(reads)), Body(FUNCTION, [ast.Pass()], set(reads))
    bodies = {id(const): other for const in code.consts if const is inside}
    shadow(body, frozenset(local), bodies)
    return shown(body.stmts), shown(other.stmts), body.global_reads


def test_a_hidden_global_is_declared() -> None:
    assert shadowed(FUNCTION, {"g", "h"}, {"h", "a"}) == ("global h\npass\n", "pass\n", {"g"})
    assert shadowed(FUNCTION, {"g"}, {"a"}) == ("pass\n", "pass\n", {"g"})
    assert shadowed(FUNCTION, {"g"}, set()) == ("pass\n", "pass\n", {"g"})


def test_a_lambda_declares_nothing() -> None:
    assert shadowed(LAMBDA, {"g"}, {"g"}) == ("pass\n", "pass\n", {"g"})


def test_the_methods_of_a_class_declare_what_is_hidden() -> None:
    code = code_of("class A:\n    def f(self): pass\n    def g(self): pass")
    (method, _) = [const for const in code.consts if isinstance(const, Code)]
    assert shadowed(code, {"g"}, {"g"}, method) == ("pass\n", "global g\npass\n", set())


def test_the_function_in_a_scope_of_type_parameters_declares_what_is_hidden() -> None:
    code = code_of("def f():\n    def g(self): pass")
    code = replace(code, name="<generic parameters of f>")
    (method,) = [const for const in code.consts if isinstance(const, Code)]
    assert shadowed(code, {"g"}, {"g"}, method) == ("pass\n", "global g\npass\n", set())


# -- the variables that statements name ---------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "names_inside", "apart"),
    [
        ("a = b", "a b", ""),
        ("lambda x=a, *, y=b: c", "a b", ""),
        ("[a for b in c if d]", "c", "a b d"),
        ("f(a, [x for y in b])", "a b f", "x y"),
    ],
)
def test_variables_that_are_named(source: str, names_inside: str, apart: str) -> None:
    inside: list[Var] = []
    assert sorted(var.id for var in own_variables(parsed(source), True, inside)) == sorted(names_inside.split())
    assert sorted(var.id for var in inside) == apart.split()
    assert sorted(var.id for var in own_variables(parsed(source), True)) == sorted(f"{names_inside} {apart}".split())
