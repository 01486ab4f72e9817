"""The statements of a module, complete.

Before: 'text' stored to __doc__; object_iter(x); return
After:  'text'; from builtins import iter as object_iter; object_iter(x)
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping

from depyf.bytecode.docstring import is_kept
from depyf.bytecode.known import OWN_MODULES
from depyf.bytecode.set_order import written
from depyf.decompiler.lift.nodes import constant
from depyf.decompiler.passes.body import Body
from depyf.errors import DecompilationError


def module_body(body: Body, objects: Mapping[str, object]) -> list[ast.stmt]:
    """Return a module's statements with its docstring as such, and without the final return.

    Args:
        objects: the objects of placeholders; the module binds them first.

    Raises:
        DecompilationError: an object has neither an import nor a literal.
    """
    stmts = list(body.stmts)
    if stmts and isinstance(stmts[-1], ast.Return):
        stmts.pop()
    declarations = [stmt for stmt in stmts if isinstance(stmt, ast.Global)]
    stmts = [stmt for stmt in stmts if not isinstance(stmt, ast.Global)]
    text = _stored_docstring(stmts[0]) if stmts else None
    if text is not None and is_kept(str(text.value), body.code):
        stmts[0] = ast.Expr(value=text, lineno=0)
    place = 0
    while place < len(stmts) and ((place == 0 and _is_docstring(stmts[0])) or _is_future(stmts[place])):
        place += 1
    bindings = [_binding(name, value, body) for name, value in objects.items()]
    return [*stmts[:place], *bindings, *declarations, *stmts[place:]] or [ast.Pass()]


def _stored_docstring(stmt: ast.stmt) -> ast.Constant | None:
    """Return the string that a statement stores to `__doc__`, and nowhere else."""
    match stmt:
        case ast.Assign(targets=[ast.Name(id="__doc__")], value=ast.Constant(value=str()) as text):
            return text
    return None


def _binding(name: str, value: object, body: Body) -> ast.stmt:
    home = _home(value)
    if home is not None:
        module, attribute = home
        return ast.ImportFrom(module=module, names=[ast.alias(name=attribute, asname=name)], level=0, lineno=0)
    if not isinstance(value, frozenset):
        raise DecompilationError(f"{type(value).__name__} is not a constant of a module", code=str(body.code))
    display: ast.expr = ast.Set(elts=[constant(item) for item in written(value)])
    call = ast.Call(func=ast.Name(id="frozenset", ctx=ast.Load()), args=[display], keywords=[])
    return ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=call, lineno=0)


def _home(value: object) -> tuple[str, str] | None:
    """Return the module and the name from which an object can be imported, or None."""
    if value is None:
        return None
    module, name = str(getattr(value, "__module__", "")), str(getattr(value, "__name__", ""))
    if getattr(sys.modules.get(module), name, None) is value:
        return module, name
    names = ((home, var) for home in OWN_MODULES if home in sys.modules for var in vars(sys.modules[home]))
    held = ((home, var) for home, var in names if var.isupper() and vars(sys.modules[home])[var] is value)
    return next(held, None)


def _is_docstring(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)


def _is_future(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__"
