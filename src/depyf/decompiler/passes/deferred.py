"""Expressions that a separate function evaluates lazily.

Before: <function __annotate__>, whose body is `if format > 2: raise NotImplementedError; return {'a': int}`
After:  {'a': int}

Such are the annotations of a function, class or module, the value of a type alias, and the parts of type parameters.
Since 3.14 the function begins with the test of the format.
"""

from __future__ import annotations

import ast

from depyf.bytecode.code import Code
from depyf.decompiler.lift.nodes import Function, Var, literal_value
from depyf.decompiler.passes.body import Bodies, Body
from depyf.decompiler.passes.walk import nodes

FORMATS = ("format", ".format")
MODULE = "<module>"


def deferred_statements(function: ast.expr | None, bodies: Bodies) -> list[ast.stmt]:
    """Return the statements that evaluate an expression, without the test of the format; empty without a function."""
    if not isinstance(function, Function):
        return []
    return _behind_test(bodies[id(function.code)].stmts)


def deferred_value(function: ast.expr | None, bodies: Bodies, around: Code) -> ast.expr | None:
    """Return the expression that a function evaluates, as written in the code `around` it, or None.

    Args:
        function: the expression that makes the function, or None.
        bodies: the bodies of nested code objects, by identity.
        around: the code in which the expression is to stand.
    """
    match deferred_statements(function, bodies):
        case [ast.Return(value=ast.expr() as value)]:
            return written_in(value, around)
    return None


def evaluated_later(body: Body) -> ast.expr | None:
    """Return the value of a `type` statement or type parameter that a body evaluates; None for any other function.

    Such a function has a parameter that no other function can have: `type name = value` is the way to write it.
    """
    if body.code.parameters != (FORMATS[1],) or not body.stmts or not _tests_format(body.stmts[0]):
        return None
    stmts = _behind_test(body.stmts)
    return stmts[0].value if len(stmts) == 1 and isinstance(stmts[0], ast.Return) else None


def written_in(expr: ast.expr, around: Code) -> ast.expr:
    """Return an expression as written in the code around it: a module has only global names."""
    if around.name == MODULE:
        for node in nodes([ast.Expr(value=expr)]):
            if isinstance(node, Var) and node.scope == "global":
                node.scope = "name"
    return expr


def _behind_test(stmts: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements after the test of the format; they may be in its `else`."""
    match stmts:
        case [ast.If(orelse=orelse) as first, *rest] if _tests_format(first):
            return [*orelse, *rest]
    return stmts


def _tests_format(stmt: ast.stmt) -> bool:
    """Return whether a statement is `if format > 2: raise NotImplementedError`."""
    match stmt:
        case ast.If(test=ast.Compare(left=Var(id=name), ops=[ast.Gt()], comparators=[limit]), body=[ast.Raise(), *_]):
            return name in FORMATS and literal_value(limit) == 2
    return False
