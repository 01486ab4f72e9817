"""The statements of a module."""

from __future__ import annotations

import ast

from depyf.passes.body import Body


def module_body(body: Body) -> list[ast.stmt]:
    """Return a module's statements with its docstring as such, and without the final return."""
    stmts = list(body.stmts)
    if stmts and isinstance(stmts[-1], ast.Return):
        stmts.pop()
    declarations = [stmt for stmt in stmts if isinstance(stmt, ast.Global)]
    stmts = [stmt for stmt in stmts if not isinstance(stmt, ast.Global)]
    first = stmts[0] if stmts else None
    if isinstance(first, ast.Assign) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        (target, *rest) = first.targets
        if not rest and isinstance(target, ast.Name) and target.id == "__doc__":
            stmts[0] = ast.Expr(value=first.value, lineno=0)
    place = 0
    while place < len(stmts) and (isinstance(stmts[place], ast.Expr) or _is_future(stmts[place])):
        place += 1
    return [*stmts[:place], *declarations, *stmts[place:]] or [ast.Pass()]


def _is_future(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__"
