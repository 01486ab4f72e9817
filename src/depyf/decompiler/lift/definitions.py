"""Distinguish functions made on the stack: some are definitions, others need a name of their own first.

A `def` is a statement, and only a `def` has annotations. If a function with annotations is neither bound to its own
name (decorated or not) nor the body of a class, it becomes a temporary, which its definition binds.

Before: v1 = MAKE_FUNCTION <code g>, annotations; v2 = CALL v0 v1
After:  def g(x: int): ...
        f(g)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from depyf.bytecode.code import Code
from depyf.decompiler.graph.tac import Inst
from depyf.decompiler.lift.nodes import BuildClass, Entry, Function

if TYPE_CHECKING:
    from depyf.decompiler.lift.fold import Folder

ANNOTATE = "__annotate"
"""The prefix of functions that evaluate annotations lazily."""
LAZY = (".format",)
"""The parameters of code that evaluates the value of a `type` statement or of a type parameter (3.14)."""
NAME_STORES = frozenset({"STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"})


def names(code: Code, target: str) -> bool:
    """Return whether a function bound to `target` is its definition; private names are mangled there."""
    return target == code.name or (code.name.startswith("__") and target.endswith(code.name))


def name_function(folder: Folder, entry: Entry) -> None:
    """Assign a new function to its temporary, unless its definition replaces it."""
    assert isinstance(entry.expr, Function)
    code = entry.expr.code
    if entry.expr.annotations is None and entry.expr.annotate is None:
        return
    if code.name.startswith(("<", ANNOTATE)) or is_class_body(folder) or is_definition(folder, entry.temp, code):
        return
    entry.uses = max(entry.uses, 1)
    folder.spill_through(entry)


def is_class_body(folder: Folder) -> bool:
    """Return whether the last function directly follows the operation that makes a class from it."""
    return len(folder.pending) > 1 and isinstance(folder.pending[-2].expr, BuildClass)


def is_definition(folder: Folder, temp: int, code: Code) -> bool:
    """Return whether the next operations complete the function in `temp`, or bind it to its name.

    Args:
        folder: the state of the block, with the operations that follow.
        temp: the temporary that holds the function.
        code: the function's code object, which has its name.
    """
    while folder.uses.get(temp) == 1:
        inst = consumer(folder, temp)
        if inst is None:
            return False
        if inst.op in ("SET_FUNCTION_ATTRIBUTE", "INTRINSIC"):
            return True
        if inst.op == "BUILD_TUPLE":
            # The parts of `type X = ...`.
            inst = consumer(folder, inst.defs[0])
            return inst is not None and inst.op == "INTRINSIC"
        if inst.op in NAME_STORES:
            return names(code, str(inst.arg))
        if inst.op != "CALL":
            return False
        if inst.arg or len(inst.uses) != 2 or inst.uses[1] != temp:
            return False
        (temp,) = inst.defs
    return False


def consumer(folder: Folder, temp: int) -> Inst | None:
    """Return the next operation of the block that uses a value."""
    rest = range(folder.position, len(folder.insts))
    return next((folder.insts[place] for place in rest if temp in folder.insts[place].uses), None)
