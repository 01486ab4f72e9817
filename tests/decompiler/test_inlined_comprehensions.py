"""The operation that stands for a comprehension whose loop is in the code around it."""

from __future__ import annotations

import ast

import pytest

from depyf.bytecode.code import Code
from depyf.decompiler.graph.tac import Inst
from depyf.decompiler.lift.nodes import AsyncIter, GetIter
from depyf.decompiler.passes.inlined import inlined_operation
from depyf.decompiler.structure.compounds import Compound
from depyf.decompiler.structure.inlined import Inlined
from tests.decompiler.folding import graph_of
from tests.decompiler.parsed import codes_in, function_of, parsed, plain
from tests.decompiler.test_forms import code_of

FUNCTION = code_of("def f(a): pass")
MODULE = code_of("x = 1")
CLASS = code_of("class A: x = 1")
X = ast.Name(id="x", ctx=ast.Load())
BLOCK = "block 0; :3 v0 = LOAD_FAST 'a'; v1 = CONST 1; -> 1\nblock 1; return"
SCOPES = {"g": "global", "n": "name"}


def inner(source: str) -> Code:
    """Return the code of the function inside of a function."""
    return codes_in(f"def f(a):\n return {source}")[0]


def operation(
    body: str, code: Code = FUNCTION, saved: str = "b", cells: str = "", nodes: dict[str, ast.expr] | None = None
) -> Inst | None:
    graph = graph_of(BLOCK, code)
    names = dict(enumerate(saved.split(), 10))
    block, rest = graph.block(0), graph.block(1)
    inlined = Inlined("<listcomp>", graph, block, 0, rest, 5, 6, names, set(cells.split()), None)
    return inlined_operation(inlined, parsed(f"v1 = []\n{body}\nreturn v1", SCOPES, {
        "it": ast.Name(id=".0", ctx=ast.Load()), **(nodes or {})
    }))


def compound(*given: object, **fields: object) -> Compound:
    inst = operation(*given, **fields)  # type: ignore[arg-type]
    assert inst is not None and isinstance(inst.arg, Compound)
    return inst.arg


LOOP = "for b in it: v1.append({})"


def test_the_operation() -> None:
    inst = operation(LOOP.format("b"))
    assert inst is not None
    assert (inst.op, inst.uses, inst.defs, inst.line) == ("EXPR", [5], [6], 3)
    assert operation("b") is None


@pytest.mark.parametrize("iterator", [GetIter(value=X), AsyncIter(value=X), X])
def test_what_it_iterates_over(iterator: ast.expr) -> None:
    assert plain(compound(LOOP.format("b")).make([iterator])) == "[b for b in x]"


@pytest.mark.parametrize(
    ("element", "reads", "writes"),
    [
        ("b", "", ""),
        ("c", "c", ""),
        ("g", "", ""),
        ("(c := b)", "c", "c"),
        ("[d for d in c]", "c d", "d"),
        ("lambda: c", "", ""),
    ],
)
def test_what_it_reads_and_writes(element: str, reads: str, writes: str) -> None:
    content = compound(LOOP.format(element))
    assert (content.reads, content.writes) == (frozenset(reads.split()), frozenset(writes.split()))


@pytest.mark.parametrize("other", ["c", "(b, c)", "b + 1", "b + 1.0", "b + True", "b - 1", "(b, b)", "[b]", "b.c"])
def test_two_that_say_the_same_are_the_same(other: str) -> None:
    assert compound(LOOP.format(other)).content == compound(LOOP.format(other)).content
    assert compound(LOOP.format(other)).content != compound(LOOP.format("b")).content
    assert compound(LOOP.format(other)).content != compound(f"for b in it:\n if c: v1.append({other})").content


def test_a_constant_is_told_by_its_type() -> None:
    contents = [compound(LOOP.format(f"b + {literal}")).content for literal in ("1", "1.0", "True", "2", "-0.0", "0.0")]
    assert len(set(contents)) == len(contents)


def test_a_place_is_no_content() -> None:
    name = ast.Name(id="x", ctx=ast.Load())
    before = compound(LOOP.format("y"), nodes={"y": name}).content
    name.place = name.row = 3  # type: ignore[attr-defined]
    assert compound(LOOP.format("y"), nodes={"y": name}).content == before


# -- variables that it has and does not name ------------------------------------------------------

TAKES, GLOBAL, DEEP = map(function_of, map(inner, ("lambda: a", "lambda: c", "lambda: lambda: c")))


def written(element: str, *given: object, **fields: object) -> str:
    return plain(compound(LOOP.format(element), *given, **fields).make([X]))


@pytest.mark.parametrize(
    ("code", "element", "saved", "cells", "given"),
    [
        (FUNCTION, "b", "b", "", "[b for b in x]"),
        (FUNCTION, "b", "b .0", "", "[b for b in x]"),
        (FUNCTION, "c", "b c", "", "[c for b in x]"),
        (FUNCTION, "b", "b", "b", "[b if True else lambda: b for b in x]"),
        (FUNCTION, "b", "b", "c", "[b for b in x]"),
        (FUNCTION, "g", "b g", "", "[g if True else (g := None) for b in x]"),
        (MODULE, "[c for c in b]", "b", "", "[[c for c in b] if True else c for b in x]"),
        (MODULE, "[c for c in b]", "b c", "", "[[c for c in b] for b in x]"),
        (MODULE, "n", "b n", "", "[n for b in x]"),
        (CLASS, "n", "b n", "", "[n for b in x]"),
        (CLASS, "b", "b c", "", "[b for b in x]"),
    ],
)
def test_variables_of_code_that_is_gone(code: Code, element: str, saved: str, cells: str, given: str) -> None:
    assert written(element, code, saved, cells) == given


def test_a_function_that_takes_a_variable() -> None:
    assert "lambda: a" not in written("t", FUNCTION, "b a", "a", nodes={"t": TAKES})
    assert "lambda: a" in written("b", FUNCTION, "b a", "a")


@pytest.mark.parametrize("function", [GLOBAL, DEEP])
def test_a_function_that_reads_a_global_of_the_same_name(function: ast.expr) -> None:
    assert "for c in ()" in written("t", FUNCTION, "b c", "", nodes={"t": function})
    assert "for d in ()" not in written("t", FUNCTION, "b d", "", nodes={"t": function})
    assert "for c in ()" not in written("(t, c)", FUNCTION, "b c", "", nodes={"t": function})
