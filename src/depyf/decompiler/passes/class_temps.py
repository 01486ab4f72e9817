"""Remove the temporary variables of a class body at its end.

Before: class C: state = 0; while state < 2: ...
After:  class C: state = 0; while state < 2: ...; state = None; del state

A variable of a class body becomes an attribute of the class, unless it is unbound at the end. Some of the variables may
not be bound on the executed path.
"""

from __future__ import annotations

import ast

from depyf.bytecode.code import CO_OPTIMIZED, Code
from depyf.decompiler.lift.nodes import Temp, literal
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.passes.walk import nodes, of_kinds
from depyf.decompiler.steps import step

TEMPS = frozenset({Temp})


@registers(
    "class-temps",
    Stage.BODY,
    "unbind the temporaries of a class body",
    takes=("body.stmts", "code"),
    optional=True,
)
def unbind_class_temps(stmts: list[ast.stmt], code: Code) -> list[ast.stmt]:
    """Return the statements of a code object; a class body unbinds its temporaries at the end."""
    if code.flags & CO_OPTIMIZED or code.name == "<module>" or not of_kinds(stmts, TEMPS):
        return stmts
    temps = dict.fromkeys(
        part.temp
        for node in nodes(stmts)
        for target in _targets(node)
        for part in ast.walk(target)
        if isinstance(part, Temp)
    )
    if not temps:
        return stmts
    step("{} temporaries of a class body are unbound", len(temps))
    bound: list[ast.expr] = [Temp(temp=temp) for temp in temps]
    unbound: list[ast.expr] = [Temp(temp=temp) for temp in temps]
    return [*stmts, ast.Assign(targets=bound, value=literal(None), lineno=0), ast.Delete(targets=unbound)]


def _targets(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Assign(targets=targets):
            return targets
        case ast.AugAssign(target=target) | ast.For(target=target) | ast.AsyncFor(target=target):
            return [target]
        case ast.withitem(optional_vars=ast.expr() as target):
            return [target]
        case _:
            return []
