"""The body of a class, without the compiler's additions.

Before: __module__ = __name__; __qualname__ = 'C'; __doc__ = 'text'; x = 1; return
After:  'text'; x = 1
"""

from __future__ import annotations

import ast

from depyf.bytecode.code import Code
from depyf.bytecode.docstring import is_kept

LEADING = ("__module__", "__qualname__", "__firstlineno__", "__type_params__", "__classdict__")


def class_body(code: Code, stmts: list[ast.stmt]) -> list[ast.stmt]:
    """Return a class's statements as written in its definition."""
    declarations = [stmt for stmt in stmts if isinstance(stmt, (ast.Global, ast.Nonlocal))]
    rest = [stmt for stmt in stmts if not isinstance(stmt, (ast.Global, ast.Nonlocal))]
    start, end = 0, len(rest)
    wanted = list(LEADING)
    while start < end and (name := _bound(rest[start])) in wanted:
        del wanted[: wanted.index(name) + 1]
        start += 1
    if end > start and isinstance(rest[end - 1], ast.Return):
        end -= 1
    kept = rest[start:end]
    first = kept[0] if kept else None
    if isinstance(first, ast.Assign) and _bound(first) == "__doc__" and _is_docstring(first.value, code):
        kept[0] = ast.Expr(value=first.value, lineno=0)
        return [kept[0], *declarations, *kept[1:]]
    return [*declarations, *kept] or [ast.Pass()]


def _bound(stmt: ast.stmt) -> str:
    """Return the name that an assignment binds, if it does nothing else."""
    target = stmt.targets[0] if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 else None
    return target.id if isinstance(target, ast.Name) else ""


def _is_docstring(expr: ast.expr, code: Code) -> bool:
    return isinstance(expr, ast.Constant) and isinstance(expr.value, str) and is_kept(expr.value, code)
