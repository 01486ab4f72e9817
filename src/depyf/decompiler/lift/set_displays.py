"""Set displays of constants, so that the compiler fills them as the original was filled."""

from __future__ import annotations

import ast

from depyf.bytecode.versions.known import facts_of
from depyf.decompiler.lift.fold import Folder
from depyf.decompiler.lift.nodes import Object

FOLDED = 3
"""From this number of constants on, the compiler fills a set display from one constant set."""


def one_by_one(folder: Folder, elements: list[ast.expr]) -> list[ast.expr]:
    """Return the elements of a set that is built from them one by one; the order of its items depends on that.

    A compiler with SET_UPDATE uses it for three or more constants. For the compiler, a placeholder is not a constant.
    """
    opcodes = facts_of(folder.graph.code.version, str(folder.graph.code)).table.opcodes.values()
    if len(elements) < FOLDED or "SET_UPDATE" not in opcodes:
        return elements
    if not all(isinstance(element, ast.Constant) for element in elements):
        return elements
    first = elements[0]
    assert isinstance(first, ast.Constant)
    return [Object(value=first.value), *elements[1:]]


def repeat_last(elements: list[ast.expr]) -> None:
    """Repeat the last constant of a set display, in place, until there are as many as the compiler folds into one.

    The display had equal constants: `{0, 0, 0}` fills a set from the constant set `{0}`.
    """
    elements += [elements[-1]] * (FOLDED - len(elements))
