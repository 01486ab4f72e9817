"""A value goes into the statement behind it, where nobody sees that what comes before it there is read first."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.emit.statements import write
from depyf.decompiler.lift.nodes import Temp, Var
from depyf.decompiler.passes.at_once import use_at_once
from tests.bytecode.listings import compiled

GRAMMAR = Grammar.of(compiled("", (3, 11)))


class _Variables(ast.NodeTransformer):
    """Makes temporaries of t1, t2, ..., local variables of x and y, one of a cell of z."""

    def visit_Name(self, node: ast.Name) -> ast.expr:  # noqa: N802  (as ast has it)
        if node.id in ("x", "y", "z"):
            return Var(id=node.id, ctx=node.ctx, scope="deref" if node.id == "z" else "fast")
        return Temp(temp=int(node.id[1:])) if node.id in ("t1", "t2") else node


def joined(source: str, bound: str = "xz") -> int:
    """Return how many statements are left of a source."""
    return len(use_at_once(_Variables().visit(ast.parse(source)).body, frozenset(bound)))


@pytest.mark.parametrize(
    "source", ["t1 = f(y)\nt2 = [x, t1]", "t1 = f(x)[0]\nt2 = (x, x, t1)", "t1 = f(y)\nt2 = x + t1"]
)
def test_a_bound_variable_is_read_early_or_late(source: str) -> None:
    assert joined(source) == source.count("\n")


@pytest.mark.parametrize(
    "source",
    [
        "t1 = f(x)\nt2 = [y, t1]",  # y may not be bound: then f is called before that shows.
        "t1 = f(x)\nt2 = [g, t1]",  # f may change the global g.
        "t1 = f(x := 1)\nt2 = [x, t1]",
        "t1 = f(x)\nt2 = [x.a, t1]",
        "t1 = f(x)\nt2 = [t1, t1]",
        "t1 = f(x)\nt2 = x and t1",
        "t1 = f(x)\nreturn",
        "t1 = f(x)\nt2 = [z, t1]",  # z is a variable of an outer function, which f may bind.
    ],
)
def test_what_somebody_may_see_stays_in_order(source: str) -> None:
    assert joined(source) == source.count("\n") + 1


def test_the_text_of_what_was_joined() -> None:
    stmts = use_at_once(_Variables().visit(ast.parse("t1 = f(x)[0]\ny = [x, t1]")).body, frozenset("x"))
    assert write(stmts, GRAMMAR) == "y = [x, f(x)[0]]\n"
