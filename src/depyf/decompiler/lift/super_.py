"""Attributes of `super()` that are loaded without creating the object."""

from __future__ import annotations

import ast
from typing import cast

from depyf.decompiler.graph.tac import Inst
from depyf.decompiler.lift.fold import Folder
from depyf.decompiler.lift.nodes import Var


def load_super_attr(folder: Folder, inst: Inst) -> None:
    """LOAD_SUPER_ATTR: `super().name`, or `super(cls, self).name` if the arguments were written.

    The compiler takes the two arguments of `super()` from the cell of the class and the first parameter; other values
    there are written out.
    """
    name, two_args = cast("tuple[str, bool]", inst.arg)
    code = folder.graph.code

    def make(parts: list[ast.expr]) -> ast.expr:
        callee, class_, first = parts
        implied = _reads(class_, "__class__", "deref") and bool(code.varnames) and _is_first(first, code.varnames[0])
        args = [] if implied and not two_args else [class_, first]
        super_call = ast.Call(func=callee, args=args, keywords=[])
        return ast.Attribute(value=super_call, attr=name, ctx=ast.Load())

    folder.combine(inst, make)


def _reads(expr: ast.expr, name: str, scope: str) -> bool:
    return isinstance(expr, Var) and expr.id == name and expr.scope == scope


def _is_first(expr: ast.expr, name: str) -> bool:
    return _reads(expr, name, "fast") or _reads(expr, name, "deref")
