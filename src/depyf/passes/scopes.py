"""Declare what a body binds outside itself: `global` and `nonlocal`."""

from __future__ import annotations

import ast

from depyf.bytecode.code import CO_OPTIMIZED, Code
from depyf.lift.imports import Import, ImportFrom
from depyf.lift.nodes import Var
from depyf.passes.body import Body
from depyf.passes.comprehensions import COMPREHENSIONS, bound_around
from depyf.passes.definitions import AsyncDefinition, ClassDefinition, Definition

EXPRESSIONS = frozenset({"<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
"""Code that is written as an expression: what it binds outside is declared by the code around it."""


def declare(body: Body) -> None:
    """Put `global` and `nonlocal` statements in front of a body that needs them."""
    variables = own_variables(body.stmts)
    if body.code.name in EXPRESSIONS:
        body.global_reads |= {var.id for var in variables if var.scope == "global"}
        return
    optimized = bool(body.code.flags & CO_OPTIMIZED)
    free = set(body.code.freevars)
    bound = [var for var in variables if not isinstance(var.ctx, ast.Load)]
    global_names = {var.id for var in bound if var.scope == "global"}
    nonlocal_names = {var.id for var in bound if var.scope == "deref" and var.id in free}
    own_reads = {var.id for var in variables if var.scope == "global"} - global_names
    if not optimized:
        global_names |= own_reads
    else:
        body.global_reads |= own_reads
    stmts: list[ast.stmt] = []
    if global_names:
        stmts.append(ast.Global(names=sorted(global_names)))
    if nonlocal_names:
        stmts.append(ast.Nonlocal(names=sorted(nonlocal_names)))
    body.stmts[:0] = stmts


def shadow(inner: Body, outer: Code) -> None:
    """Declare the globals that `inner` reads and that `outer` has as variables of its own."""
    if not outer.flags & CO_OPTIMIZED:
        return
    hidden = inner.global_reads & ({*outer.varnames, *outer.cellvars, *outer.freevars})
    if hidden and inner.code.flags & CO_OPTIMIZED and not inner.code.name.startswith("<"):
        inner.stmts.insert(0, ast.Global(names=sorted(hidden)))
        inner.global_reads -= hidden


def own_variables(stmts: list[ast.stmt]) -> list[Var]:
    """Return the variables that statements name themselves: not those of nested functions and classes."""
    found: list[Var] = []
    work: list[ast.AST] = list(reversed(stmts))
    while work:
        node = work.pop()
        if isinstance(node, Var):
            found.append(node)
        elif isinstance(node, (Definition, AsyncDefinition)):
            found.append(node.target)
            work.extend([*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)])
            work.extend(arg.annotation for arg in ast.walk(node.args) if isinstance(arg, ast.arg) and arg.annotation)
            work.extend([node.returns] if node.returns is not None else [])
        elif isinstance(node, ClassDefinition):
            found.append(node.target)
            work.extend([*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)])
        elif isinstance(node, (Import, ImportFrom)):
            found.extend(node.variables)
        elif isinstance(node, ast.Lambda):
            work.extend([*node.args.defaults, *filter(None, node.args.kw_defaults)])
        elif isinstance(node, COMPREHENSIONS) and (bound := bound_around(node)) is not None:
            found.extend(bound)
            work.append(node.generators[0].iter)
        else:
            work.extend(ast.iter_child_nodes(node))
    return found
