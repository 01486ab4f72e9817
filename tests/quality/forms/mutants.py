"""Seeded faults in a module: one rule at a time, put into the running program.

A rule is a condition (negated), an operand of `and` or `or` (left out), a branch (left out), a `case` (left out), or
the whole of a function (which returns at once).
"""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import importlib
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.quality.forms.cases import DECOMPILER

Function = ast.FunctionDef | ast.AsyncFunctionDef
Key = tuple[str, str, str, int, int, int]
"""Module, class, function; the number of the node in it, the kind of change, and which one of that kind."""
Cached = type(functools.cache(ast.dump))
"""Functions that keep results: those of a changed rule are not the rule's."""
EARLY_NODE = -1
"""In place of the number of a node: the whole of the function."""
EARLY = {"bool": ("True", "False"), "str": ("''",), "int": ("0",)}


@dataclass(frozen=True)
class Mutant:
    """One changed rule. `line` is where it stands, `function` and `mutated` are the functions to exchange."""

    module: str
    line: int
    what: str
    key: Key
    function: types.FunctionType
    mutated: types.CodeType

    def __str__(self) -> str:
        return f"{self.function.__name__}, {self.what}"


@contextlib.contextmanager
def applied(mutant: Mutant) -> Iterator[None]:
    """Run with a changed rule."""
    original = mutant.function.__code__
    kept = [value for value in mutant.function.__globals__.values() if isinstance(value, Cached)]
    mutant.function.__code__ = mutant.mutated
    for function in kept:
        function.cache_clear()
    try:
        yield
    finally:
        mutant.function.__code__ = original
        for function in kept:
            function.cache_clear()


def mutants(module: str) -> list[Mutant]:
    """Return all mutants of a module, in the order of its lines."""
    path = DECOMPILER / f"{module}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    live = importlib.import_module("depyf.decompiler." + module.replace("/", "."))
    seeded: list[Mutant] = []
    for owner, node in functions_of(tree):
        function = live_function(getattr(live, owner) if owner else live, node.name)
        if function is None:
            continue
        for line, what, place in changes(node):
            mutated = compiled_function(node, path)
            if mutated is not None and mutated.co_freevars == function.__code__.co_freevars:
                seeded.append(Mutant(module, line, what, (module, owner, node.name, *place), function, mutated))
    return seeded


def functions_of(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yield the functions of a module and its classes, each behind the name of its class."""
    for node in tree.body:
        if isinstance(node, Function):
            yield "", node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, Function) and not inner.name.startswith("__"):
                    yield node.name, inner


def live_function(owner: object, name: str) -> types.FunctionType | None:
    """Return the function of a module or class by name, or None."""
    member: object = vars(owner).get(name)
    if isinstance(member, property):
        member = member.fget
    member = getattr(member, "__wrapped__", member)
    return member if isinstance(member, types.FunctionType) else None


def compiled_function(node: Function, path: Path) -> types.CodeType | None:
    """Return the code of a function without its decorators, or None where it is no Python."""
    bare = copy.copy(node)
    bare.decorator_list = []
    imported = ast.parse("from __future__ import annotations").body
    tree = ast.fix_missing_locations(ast.Module([*imported, bare], []))
    try:
        module = compile(tree, str(path), "exec")
    except SyntaxError:
        return None
    return next(const for const in module.co_consts if isinstance(const, types.CodeType))


# -- the changes -------------------------------------------------------------------------


def changes(function: Function) -> Iterator[tuple[int, str, tuple[int, int, int]]]:
    """Change one rule of a function after the other, in place; yield its line, what was done and the end of its key.

    What is changed is then put back.
    """
    for number, (line, early) in enumerate(_early(function)):
        yield line, early, (EARLY_NODE, 0, number)
    for place, node in enumerate(list(ast.walk(function))):
        for index, kind in enumerate(KINDS):
            for number in range(MOST_IN_ONE):
                held = {name: list(value) if isinstance(value, list) else value for name, value in vars(node).items()}
                is_nothing = kind is _drop_case and _is_nothing(function, node, number)
                what = kind(node, number)
                if what is None:
                    break
                if not is_nothing:
                    yield getattr(node, "lineno", function.lineno), what, (place, index, number)
                vars(node).update(held)


def _early(function: Function) -> Iterator[tuple[int, str]]:
    returns = ast.unparse(function.returns) if function.returns is not None else ""
    first = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if not first or (len(first) == 1 and isinstance(first[0], ast.Pass | ast.Raise)):
        return
    body = function.body
    for value in EARLY.get(returns, ("",)):
        if len(first) == 1 and ast.unparse(first[0]) == f"return {value}".strip():
            continue
        function.body = [*ast.parse(f"def f():\n return {value}").body[0].body, *body]  # type: ignore[attr-defined]
        yield first[0].lineno, f"return {value}".strip()
        function.body = body


def _negate(node: ast.AST, number: int) -> str | None:
    if isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(node.test, ast.Constant) and number == 0:
        what = f"not {ast.unparse(node.test)}"
        node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        return what
    if isinstance(node, ast.comprehension) and number < len(node.ifs):
        what = f"not {ast.unparse(node.ifs[number])}"
        node.ifs[number] = ast.copy_location(ast.UnaryOp(ast.Not(), node.ifs[number]), node.ifs[number])
        return what
    return None


def _drop_operand(node: ast.AST, number: int) -> str | None:
    if isinstance(node, ast.BoolOp) and number < len(node.values):
        what = f"without {ast.unparse(node.values[number])}"
        left = [operand for operand in node.values if operand is not node.values[number]]
        node.values = left * 2 if len(left) == 1 else left
        return what
    return None


def _drop_branch(node: ast.AST, number: int) -> str | None:
    if not isinstance(node, ast.If) or number >= 2:
        return None
    body = (node.body, node.orelse)[number]
    if not body or all(isinstance(stmt, ast.Pass) for stmt in body):
        return None
    head = f"if {ast.unparse(node.test)}" if number == 0 else f"else of {ast.unparse(node.test)}"
    setattr(node, ("body", "orelse")[number], [ast.copy_location(ast.Pass(), body[0])])
    return f"no {head}"


def _drop_case(node: ast.AST, number: int) -> str | None:
    if isinstance(node, ast.Match) and number < len(node.cases) and len(node.cases) > 1:
        what = f"no case {ast.unparse(node.cases[number].pattern)}"
        node.cases = [case for case in node.cases if case is not node.cases[number]]
        return what
    return None


def _is_nothing(function: Function, node: ast.AST, number: int) -> bool:
    """Return whether a case does what comes where no case fits: the last `case _`, with `pass`, or with a `return`
    of nothing where the function ends behind the `match`."""
    if not isinstance(node, ast.Match) or number != len(node.cases) - 1:
        return False
    last = node.cases[number]
    if ast.unparse(last.pattern) != "_" or last.guard is not None or len(last.body) != 1:
        return False
    text = ast.unparse(last.body[0])
    return text == "pass" or (text in ("return", "return None") and function.body[-1] is node)


KINDS = (_negate, _drop_operand, _drop_branch, _drop_case)
MOST_IN_ONE = 12
"""Rules of one kind in one node: operands, cases."""
