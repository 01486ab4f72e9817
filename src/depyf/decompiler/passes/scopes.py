"""Declare the names that a body binds outside itself: `global` and `nonlocal`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from depyf.bytecode.code import CO_OPTIMIZED, Code
from depyf.decompiler.lift.imports import Import, ImportFrom
from depyf.decompiler.lift.nodes import (
    LOAD,
    AsyncDefinition,
    Capture,
    CaptureRest,
    CaptureStar,
    ClassDefinition,
    Definition,
    Var,
    literal,
)
from depyf.decompiler.passes.body import Bodies, Body
from depyf.decompiler.passes.comprehensions import COMPREHENSIONS, bound_around
from depyf.decompiler.passes.sought import SOUGHT
from depyf.decompiler.passes.type_params import GENERIC
from depyf.decompiler.passes.unreached import IMPLIED, Reached, unreached
from depyf.decompiler.passes.walk import INNER, children
from depyf.decompiler.steps import step

EXPRESSIONS = frozenset({"<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
"""Code that is written as an expression: the code around it declares the names that it binds outside."""


def declare(body: Body, reached: Reached) -> None:
    """Insert `global` and `nonlocal` statements at the start of a body, and its unreachable code."""
    optimized = bool(body.code.flags & CO_OPTIMIZED)
    inner: list[Var] = []
    direct = own_variables(body.stmts, optimized, inner, body.special)
    variables = [*direct, *inner] if optimized else direct
    if not optimized:
        body.global_reads |= {var.id for var in inner if var.scope == "global"}
    if body.code.name in EXPRESSIONS:
        body.global_reads |= {var.id for var in variables if var.scope == "global"}
        gone = unreached(body.code, body.stmts, direct, inner, body.special, _unused(body, variables, reached), reached)
        body.unreached = gone
        return
    free = body.code.freevars
    bound = [var for var in variables if not isinstance(var.ctx, ast.Load)]
    global_names = {var.id for var in bound if var.scope == "global"}
    nonlocal_names = {var.id for var in bound if var.scope == "deref" and var.id in free}
    unused = _unused(body, variables, reached)
    nonlocal_names |= unused - body.type_params
    own_reads = _read_as_global(body, variables, inner) - global_names
    if not optimized:
        global_names |= own_reads
    else:
        body.global_reads |= own_reads
    stmts: list[ast.stmt] = []
    if global_names:
        stmts.append(ast.Global(names=sorted(global_names)))
    if nonlocal_names:
        stmts.append(ast.Nonlocal(names=sorted(nonlocal_names)))
    left = _left(body, direct, inner, nonlocal_names | unused, reached)
    left += _reading(sorted(unused & body.type_params))
    if stmts or left:
        step("{} declarations come first", len(stmts) + len(left))
    # The compiler's own statements come first in a class.
    body.stmts = [*stmts, *left, *body.stmts] if optimized else [*stmts, *body.stmts, *left]


def _reading(names: list[str]) -> list[ast.stmt]:
    """Return an unreachable statement that reads variables, or nothing for no variables."""
    reads: list[ast.stmt] = [ast.Expr(value=Var(id=name, ctx=LOAD, scope="deref"), lineno=0) for name in names]
    return [ast.If(test=literal(False), body=reads, orelse=[], lineno=0)] if reads else []


def _read_as_global(body: Body, variables: list[Var], inner: list[Var]) -> set[str]:
    """Return the names that a body reads as globals.

    Args:
        inner: names in comprehensions; in a module they have the module's scope, with its global declarations.
    """
    seen = [*variables, *inner] if body.code.name == "<module>" else variables
    return {var.id for var in seen if var.scope == "global"}


def _left(body: Body, direct: list[Var], inner: list[Var], declared: set[str], reached: Reached) -> list[ast.stmt]:
    """Return the traces of unreachable code."""
    if body.code.name.startswith("<") and body.code.name != "<module>":
        return []
    passed: set[str] = set()
    if body.code.freevars:
        outer = {var.id for var in direct if var.scope in ("deref", "classderef")}
        passed = set(body.code.freevars).difference(declared, outer, IMPLIED, reached.shared)
    return unreached(body.code, body.stmts, direct, inner, body.special, passed, reached).statements()


def _unused(body: Body, variables: list[Var], reached: Reached) -> set[str]:
    """Return the free variables that no operation of the code uses: the code that named them is gone."""
    if not body.code.freevars:
        return set()
    used = {var.id for var in variables}.union(IMPLIED, reached.shared)
    if "super" in used:
        used.add("__class__")
    return {name for name in body.code.freevars if name.isidentifier() and name not in used}


def variables_of(code: Code) -> frozenset[str]:
    """Return the variables that nested code does not see as globals; a class or module has none."""
    return frozenset((*code.varnames, *code.cellvars, *code.freevars) if code.flags & CO_OPTIMIZED else ())


def shadow(inner: Body, local: frozenset[str], bodies: Bodies) -> None:
    """Declare the globals that `inner`, or a class's methods, read if they are variables of the enclosing code.

    Args:
        inner: the body of a nested function or class.
        local: the variables of the enclosing code (`variables_of`).
        bodies: the bodies of nested code objects, by identity.
    """
    work = [inner]
    while work:
        body = work.pop()
        hidden = body.global_reads & local
        is_scope = body.code.name.startswith(GENERIC)
        if not hidden or (body.code.name.startswith("<") and not is_scope):
            continue
        body.global_reads -= hidden
        if body.code.flags & CO_OPTIMIZED and not is_scope:
            body.stmts.insert(0, ast.Global(names=sorted(hidden)))
        else:
            work.extend(bodies[id(const)] for const in body.code.consts if id(const) in bodies)


BINDING: frozenset[type] = frozenset(
    {Definition, AsyncDefinition, ClassDefinition, Capture, CaptureStar, CaptureRest, Import, ImportFrom}
).union({ast.Lambda}, COMPREHENSIONS)
"""The nodes that name a variable without a `Var`, or are scopes."""
VISITED, VARIABLE, SPECIAL = 1, 2, 3


class _Roles(dict[type, int]):
    """By type of node: VISITED for one with children, VARIABLE, SPECIAL for one of SOUGHT without children, or 0."""

    def __missing__(self, kind: type) -> int:
        role = SPECIAL if kind in SOUGHT else 0
        self[kind] = role = VARIABLE if kind is Var else VISITED if kind in BINDING or INNER[kind] else role
        return role


ROLES = _Roles()


def own_variables(
    stmts: Sequence[ast.AST], around: bool, apart: list[Var] | None = None, special: list[ast.AST] | None = None
) -> list[Var]:
    """Return the variables that statements name themselves, without nested functions and classes, in no order.

    Args:
        stmts: the nodes to search.
        around: include the variables that `:=` binds in comprehensions: they are bound in the enclosing code.
        apart: receives the names in inlined comprehensions, which do not see the variables of a class.
        special: receives the nodes of SOUGHT.
    """
    inner: list[ast.AST] = []
    special = [] if special is None else special
    variables = _named(stmts, around, None if apart is None else inner, special)
    if inner and apart is not None:
        apart.extend(_named(inner, around, None, special))
    return variables


def _head_parts(node: Definition | AsyncDefinition) -> list[ast.AST]:
    """Return the parts of a definition's head that are evaluated around it."""
    args = node.args
    every = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    annotations = [arg.annotation for arg in every if arg is not None]
    parts = [*node.decorator_list, *args.defaults, *args.kw_defaults, *annotations, node.returns]
    return [*(part for part in parts if part is not None), *node.type_params]


def _named(
    stmts: Sequence[ast.AST], around: bool, inner: list[ast.AST] | None, special: list[ast.AST]
) -> list[Var]:
    """Return the variables that nodes name; `inner` receives the parts of inlined comprehensions instead."""
    variables: list[Var] = []
    work = _split(stmts, variables, special)
    roles, held = ROLES, INNER
    for node in work:  # The list grows during the iteration.
        kind = type(node)
        if kind in SOUGHT:
            special.append(node)
        if kind in BINDING:
            work += _split(_parts(node, around, inner, variables), variables, special)
            continue
        fields = node.__dict__
        for name in held[kind]:
            value: Any = fields.get(name)
            if value.__class__ is list:
                for item in value:
                    if role := roles[type(item)]:
                        (work if role == VISITED else variables if role == VARIABLE else special).append(item)
            elif role := roles[type(value)]:
                (work if role == VISITED else variables if role == VARIABLE else special).append(value)
    return variables


def _parts(node: ast.AST, around: bool, inner: list[ast.AST] | None, variables: list[Var]) -> list[ast.AST]:
    """Return the parts of a node of BINDING that the walk visits; add its other variables to `variables`."""
    if isinstance(node, (Definition, AsyncDefinition)):
        return [node.target, *_head_parts(node)]
    if isinstance(node, ClassDefinition):
        keywords = [keyword.value for keyword in node.keywords]
        return [node.target, *node.decorator_list, *node.bases, *keywords, *node.type_params]
    if isinstance(node, (Capture, CaptureStar, CaptureRest)):
        return [*([node.variable] if node.variable is not None else []), *children(node)]
    if isinstance(node, (Import, ImportFrom)):
        variables += node.variables
        return []
    if isinstance(node, ast.Lambda):
        return [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    assert isinstance(node, COMPREHENSIONS)
    bound = bound_around(node)
    if bound is not None:
        variables += bound if around else ()
    elif inner is None:
        return children(node)
    else:
        inner += _inner_parts(node)
    return [node.generators[0].iter]


def _split(nodes: Sequence[ast.AST], variables: list[Var], special: list[ast.AST]) -> list[ast.AST]:
    """Return the nodes with children; `variables` receives variables, `special` nodes of SOUGHT without children."""
    variables += [node for node in nodes if type(node) is Var]
    special += [node for node in nodes if ROLES[type(node)] == SPECIAL]
    return [node for node in nodes if ROLES[type(node)] == VISITED]


def _inner_parts(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> list[ast.AST]:
    """Return the parts of a comprehension that are evaluated in its own scope."""
    first = node.generators[0]
    return [*(part for part in ast.iter_child_nodes(node) if part is not first), first.target, *first.ifs]
