"""Annotated variables of modules and classes.

Before: x = 1; __annotations__['x'] = int; __annotations__['y'] = str
After:  x: int = 1; y: str

The compiler writes this only if it has also set up `__annotations__`, for an annotation anywhere in the body.
"""

from __future__ import annotations

import ast

from depyf.bytecode.code import CO_FUTURE_ANNOTATIONS, CO_OPTIMIZED, Code
from depyf.decompiler.lift.nodes import Function, Quoted, SetupAnnotations, Var, literal, literal_value
from depyf.decompiler.passes.comprehensions import NAMES as COMPREHENSIONS
from depyf.decompiler.passes.groups import ANNOTATIONS
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.passes.walk import of_kinds, rewrite_sequences
from depyf.decompiler.steps import step

NAME = "__annotations__"
FUNCTIONS = frozenset({Function})
IN_EXPRESSIONS = frozenset((*COMPREHENSIONS, "<lambda>"))
"""The names of functions that an expression makes."""


@registers(
    "annotations",
    Stage.BODY,
    "turn items of `__annotations__` into annotations",
    takes=("body.stmts", "code"),
    optional=True,
    needs=ANNOTATIONS,
)
def restore_annotations(body: list[ast.stmt], code: Code) -> list[ast.stmt]:
    """Turn the items of `__annotations__` into annotations, if the body of a module or class has set it up."""
    if code.flags & CO_OPTIMIZED or not any(isinstance(stmt, SetupAnnotations) for stmt in body):
        return body
    ann_assigns: list[ast.AnnAssign] = []
    body = rewrite_sequences(body, lambda stmts: _sequence(stmts, code, ann_assigns))
    return [stmt for stmt in body if not isinstance(stmt, SetupAnnotations)] if ann_assigns else body


@registers(
    "annotation-setup",
    Stage.BODY,
    "set up `__annotations__` if no annotation does",
    takes=("body.stmts", "code"),
    needs=ANNOTATIONS,
    after={"annotations": "an annotation itself sets up `__annotations__`"},
)
def set_annotations_up(body: list[ast.stmt], code: Code) -> list[ast.stmt]:
    """Write a statement that sets up `__annotations__` if no annotation does; only `from __future__` may precede it."""
    place = next((number for number, stmt in enumerate(body) if isinstance(stmt, SetupAnnotations)), -1)
    if place < 0:
        return body
    step("an annotation that is never stored sets up `__annotations__`")
    rest = [stmt for stmt in body if not isinstance(stmt, SetupAnnotations)]
    for number, stmt in enumerate(rest):
        if isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__":
            place = max(place, number + 1)
    return [*rest[:place], none_reached(code), *rest[place:]]


def annotation(expr: ast.expr, code: Code) -> ast.expr:
    """Return an annotation as written: under `from __future__ import annotations` it is stored as its text."""
    text = literal_value(expr)
    if code.flags & CO_FUTURE_ANNOTATIONS and isinstance(text, str):
        return Quoted(text=text)
    return expr


def _sequence(stmts: list[ast.stmt], code: Code, moved: list[ast.AnnAssign]) -> list[ast.stmt]:
    out: list[ast.stmt] = []
    for stmt in stmts:
        name = _annotated(stmt)
        if name is None or not isinstance(stmt, ast.Assign):
            out.append(stmt)
            continue
        target, value = Var(id=name, ctx=ast.Store(), scope="name"), None
        before = out[-1] if out else None
        if isinstance(before, ast.Assign) and _stores(before, name):
            (kept,) = before.targets
            assert isinstance(kept, Var)
            target, value = kept, before.value
            out.pop()
        line = stmt.lineno
        step("line {}: the annotation of {} moves to its variable", line, name)
        annotated = ast.AnnAssign(
            target=target, annotation=annotation(stmt.value, code), value=value, simple=1, lineno=line
        )
        moved.append(annotated)
        out.append(annotated)
    return out


def _annotated(stmt: ast.stmt) -> str | None:
    """Return the name whose annotation a statement stores, or None."""
    match stmt:
        case ast.Assign(targets=[ast.Subscript(value=Var(id=variable), slice=key)]) if variable == NAME:
            name = literal_value(key)
            return name if isinstance(name, str) and name.isidentifier() else None
    return None


def _stores(stmt: ast.Assign, name: str) -> bool:
    """Return whether a statement only stores to that one variable, and is no definition."""
    target = stmt.targets[0]
    is_one = len(stmt.targets) == 1 and isinstance(target, Var) and target.id == name and target.scope != "global"
    return is_one and not is_definition(stmt)


def is_definition(stmt: ast.Assign) -> bool:
    """Return whether an assignment will be a `def` or `class`: its value makes a function with a name."""
    return any(function.code.name not in IN_EXPRESSIONS for function in of_kinds([stmt.value], FUNCTIONS))


def none_reached(code: Code) -> ast.stmt:
    """Return a statement that only sets up `__annotations__`: an annotation that is neither stored nor evaluated.

    The annotation of a target in parentheses is not stored. Under `from __future__ import annotations` it is not
    evaluated either; otherwise it must be in unreachable code.
    """
    target = ast.Name(id=NAME, ctx=ast.Store())
    stmt = ast.AnnAssign(target=target, annotation=literal(None), value=None, simple=0, lineno=0)
    if code.flags & CO_FUTURE_ANNOTATIONS:
        return stmt
    return ast.If(test=literal(False), body=[stmt], orelse=[], lineno=0)
