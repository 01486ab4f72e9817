"""Variables that are looked up first in the namespace of a class.

Before: v1 = LOAD_LOCALS; v2 = LOAD_FROM_DICT_OR_GLOBALS x v1
After:  v2 = x
"""

from __future__ import annotations

import ast

from depyf.decompiler.graph.tac import Inst
from depyf.decompiler.lift.fold import Folder
from depyf.decompiler.lift.nodes import PURE, Namespace, Var

CLASSDICT = "__classdict__"
"""The cell with the namespace of a class body, for code that is evaluated lazily."""
SCOPES = {"LOAD_FROM_DICT_OR_GLOBALS": "name", "LOAD_FROM_DICT_OR_DEREF": "classderef"}


def load_locals(folder: Folder, inst: Inst) -> None:
    """LOAD_LOCALS: the namespace as a value."""
    folder.push(inst, Namespace(), PURE)


def load_from_dict(folder: Folder, inst: Inst) -> None:
    """LOAD_FROM_DICT_OR_GLOBALS, LOAD_FROM_DICT_OR_DEREF: a variable of a class body, or around it."""

    def make(parts: list[ast.expr]) -> ast.expr:
        (namespace,) = parts
        if not isinstance(namespace, Namespace) and not (isinstance(namespace, Var) and namespace.id == CLASSDICT):
            raise folder.error(f"{inst.op} looks in something that is not a class's namespace", inst)
        return Var(id=inst.arg, ctx=ast.Load(), scope=SCOPES[inst.op])

    folder.combine(inst, make)
