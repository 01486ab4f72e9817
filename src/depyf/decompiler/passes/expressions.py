"""Finish expressions: resolve references, flatten `and`/`or`, and express the pipeline's nodes in plain `ast`."""

from __future__ import annotations

import ast
import copy
from itertools import chain, repeat

from depyf.bytecode.known import IMPORT, IMPORT_FROM
from depyf.decompiler.lift.guarded import grouped, is_loose
from depyf.decompiler.lift.nodes import FromModule, Intrinsic, Module, Object, Ref, Tuple_, literal
from depyf.decompiler.lift.references import referred
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.passes.walk import rewrite_expressions
from depyf.decompiler.steps import step

KINDS = frozenset({Ref, ast.BoolOp, ast.IfExp, ast.UnaryOp, Tuple_, Intrinsic, FromModule, Module})


@registers(
    "expressions",
    Stage.STATEMENTS,
    "finish expressions",
    takes=("stmts",),
    gives="has_conditions",
    after={
        "complete": "if it fails, another structure is tried before expressions are finished",
        "dispatch": "it makes the statements",
        "dispatch-levels": "it makes the statements",
    },
)
def finish_expressions(body: list[ast.stmt]) -> bool:
    """Rewrite every expression of a body in place; return whether there are `and`, `or` or conditional expressions."""
    conditions: list[ast.expr] = []

    def finish(expr: ast.expr) -> ast.expr:
        if isinstance(expr, (ast.BoolOp, ast.IfExp)):
            conditions.append(expr)
            return expr
        return _finish(expr)

    rewrite_expressions(body, finish, KINDS)
    if conditions:
        _flatten([expr for expr in conditions if isinstance(expr, ast.BoolOp)])
    return bool(conditions)


def _finish(expr: ast.expr) -> ast.expr:
    kind = type(expr)
    if kind is Ref:
        step("v{} is written where it is used", expr.entry.temp)  # type: ignore[attr-defined]
        return referred(expr)
    if kind is ast.UnaryOp:
        return _not(expr)  # type: ignore[arg-type]
    if kind is Tuple_:
        step("a tuple becomes a display")
        return ast.Tuple(elts=expr.elts, ctx=ast.Load())  # type: ignore[attr-defined]
    if kind is Intrinsic and expr.name == "unary_positive":  # type: ignore[attr-defined]
        step("an intrinsic is `+`")
        return ast.UnaryOp(op=ast.UAdd(), operand=expr.args[0])  # type: ignore[attr-defined]
    if kind is Intrinsic and expr.name == "INTRINSIC_PRINT":  # type: ignore[attr-defined]
        step("pass the value that the interactive interpreter displays to its hook")
        return _displayed(expr.args)  # type: ignore[attr-defined]
    if kind is FromModule:
        step("a name without an import statement becomes a call of IMPORT_FROM")
        parts = [expr.module, ast.Constant(value=expr.name)]  # type: ignore[attr-defined]
        return ast.Call(func=Object(value=IMPORT_FROM), args=parts, keywords=[])
    if kind is Module:
        step("a module without an import statement becomes a call of IMPORT")
        return _import_call(expr)  # type: ignore[arg-type]
    return expr


def _flatten(conditions: list[ast.BoolOp]) -> None:
    """Merge nested `and` or `or` of the same kind; inner ones come first in `conditions`.

    A chain is walked once, from its top: level by level, its operands would be copied for each level.
    """
    joined: set[ast.BoolOp] = set()
    for top in reversed(conditions):
        if top in joined:
            continue
        kind = type(top.op)
        values: list[ast.expr] = []
        loose: list[bool] = []
        waiting = _operands(top, False)
        while waiting:
            value, is_open = waiting.pop()
            if isinstance(value, ast.BoolOp) and type(value.op) is kind and not (waiting and _is_decided(value)):
                step("merge an operand with the same `and` or `or`")
                joined.add(value)
                waiting += _operands(value, is_open)
            else:
                values.append(value)
                loose.append(is_open)
        top.values = grouped(top.op, values, loose[:-1]) if True in loose else values


def _operands(condition: ast.BoolOp, is_open: bool) -> list[tuple[ast.expr, bool]]:
    """Return the operands of an `and` or `or`, last first, and whether the test of each has no handler.

    Args:
        is_open: whether the test of the whole has none.
    """
    first, *others = condition.values
    return [*zip(reversed(others), chain((is_open,), repeat(False))), (first, is_loose(condition))]


def _is_decided(condition: ast.BoolOp) -> bool:
    """Return whether a constant decides an `and` or `or` early: the compiler would drop the operands after it."""
    last: ast.expr = condition
    while isinstance(last, ast.BoolOp) and type(last.op) is type(condition.op):
        last = last.values[-1]
    return isinstance(last, ast.Constant) and bool(last.value) is isinstance(condition.op, ast.Or)


def _not(expr: ast.UnaryOp) -> ast.expr:
    """Write `x is not y` for `not x is y`, because they compile to the same code."""
    operand = expr.operand
    if isinstance(expr.op, ast.Not) and isinstance(operand, ast.Compare) and len(operand.ops) == 1:
        if hasattr(operand, "apart") and not hasattr(operand, "fused"):
            return expr
        swapped = {ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}.get(type(operand.ops[0]))
        if swapped is not None:
            step("`not` joins the comparison after it")
            comparison = copy.copy(operand)
            comparison.ops = [swapped()]
            return comparison
    return expr


def _import_call(expr: Module) -> ast.expr:
    args: list[ast.expr] = [ast.Constant(value=expr.name), ast.Constant(value=expr.level), literal(expr.names)]
    return ast.Call(func=Object(value=IMPORT), args=args, keywords=[])


def _displayed(args: list[ast.expr]) -> ast.expr:
    """Return the call with which the interactive interpreter displays a value."""
    importer = ast.Name(id="__import__", ctx=ast.Load())
    module = ast.Call(func=importer, args=[ast.Constant(value="sys")], keywords=[])
    return ast.Call(func=ast.Attribute(value=module, attr="displayhook", ctx=ast.Load()), args=args, keywords=[])
