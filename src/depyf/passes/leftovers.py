"""The last pass: names for temporaries, and plain expressions for what no other pass has taken."""

from __future__ import annotations

import ast

from depyf.lift.nodes import AsyncIter, GetIter, Temp
from depyf.passes.body import Body
from depyf.passes.walk import nodes, rewrite_expressions


def finish_leftovers(body: Body) -> None:
    """Replace every node that is no Python in place."""
    names = _Namer({*body.code.varnames, *body.code.names, *body.code.cellvars, *body.code.freevars})

    def rewrite(expr: ast.expr) -> ast.expr:
        if isinstance(expr, Temp):
            return ast.Name(id=names.name(expr.temp), ctx=ast.Load())
        if isinstance(expr, GetIter):
            return ast.Call(func=ast.Name(id="iter", ctx=ast.Load()), args=[expr.value], keywords=[])
        if isinstance(expr, AsyncIter):
            return ast.Call(func=ast.Name(id="aiter", ctx=ast.Load()), args=[expr.value], keywords=[])
        return expr

    rewrite_expressions(body.stmts, rewrite)


class _Namer:
    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.names: dict[int, str] = {}

    def name(self, temp: int) -> str:
        """Return the name of a temporary; the first asked for is `tmp_1`."""
        if temp not in self.names:
            number = len(self.names) + 1
            while f"tmp_{number}" in self.taken:
                number += 1
            self.names[temp] = f"tmp_{number}"
            self.taken.add(self.names[temp])
        return self.names[temp]


__all__ = ["finish_leftovers", "nodes"]
