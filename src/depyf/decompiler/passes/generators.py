"""Generators whose every `yield` the compiler has dropped as unreachable.

Before: def f(): return             (but its code is that of a generator)
After:  def f():
            if False: yield
            return

Asynchronous generators also lose the values of their returns, which are None.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from depyf.bytecode.code import CO_ASYNC_GENERATOR, CO_GENERATOR, Code
from depyf.decompiler.lift.nodes import Temp, literal
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.passes.walk import rewrite_sequences
from depyf.decompiler.steps import step


@registers(
    "generators",
    Stage.BODY,
    "keep generators without `yield` generators",
    takes=("body.stmts", "code"),
    before={"definitions": "a `yield` of nested code is not that of the function"},
)
def finish_generator(stmts: list[ast.stmt], code: Code) -> list[ast.stmt]:
    """Return the statements of a generator with a `yield` among them, and without values that have no syntax."""
    return keep_generator(return_nothing(stmts, code), code)


def keep_generator(stmts: list[ast.stmt], code: Code) -> list[ast.stmt]:
    """Return the statements of a generator with a `yield` among them."""
    if not code.flags & (CO_GENERATOR | CO_ASYNC_GENERATOR) or code.name.startswith("<") or _yields(stmts):
        return stmts
    step("an unreachable `yield` keeps the function a generator")
    never = ast.Expr(value=ast.Yield(value=None), lineno=0)
    return [ast.If(test=literal(False), body=[never], orelse=[], lineno=0), *stmts]


def return_nothing(stmts: list[ast.stmt], code: Code) -> list[ast.stmt]:
    """Return the statements of an asynchronous generator without values in its returns: they have no syntax.

    Before: x = None; return x      After: x = None; x; return
    """
    if not code.flags & CO_ASYNC_GENERATOR:
        return stmts

    def rewrite(sequence: list[ast.stmt]) -> list[ast.stmt]:
        rewritten: list[ast.stmt] = []
        for stmt in sequence:
            if isinstance(stmt, ast.Return) and stmt.value is not None:
                step("an asynchronous generator returns None")
                if not isinstance(stmt.value, (ast.Constant, Temp)):
                    rewritten.append(ast.Expr(value=stmt.value, lineno=stmt.lineno))
                stmt.value = None
            rewritten.append(stmt)
        return rewritten

    return rewrite_sequences(stmts, rewrite)


def _yields(stmts: Sequence[ast.stmt]) -> bool:
    """Return whether statements yield, not counting nested functions."""
    work: list[ast.AST] = list(stmts)
    while work:
        node = work.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        work.extend(ast.iter_child_nodes(node))
    return False
