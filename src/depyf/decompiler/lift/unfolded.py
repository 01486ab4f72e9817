"""Operations on constants that the compiler did not fold, because one operand was an f-string without fields.

Before: v1 = CONST ''; v2 = CONST 'a'; v3 = BINARY + v1 v2
After:  f'' + 'a'

`'' + 'a'` would be folded to one constant. From 3.14 on, f-strings are folded too, but not `not` of a result: `not +1`.
"""

from __future__ import annotations

import ast

from depyf.bytecode.code import Code
from depyf.bytecode.versions.known import facts_of
from depyf.decompiler.graph.tac import Inst
from depyf.decompiler.lift import values
from depyf.decompiler.lift.fold import Folder

LONGEST = 4096
"""The longest string that the compiler folds for `*`."""


def unary(folder: Folder, inst: Inst) -> None:
    """UNARY: turn `not` of a constant into `not` of a string that the compiler does not fold."""
    values.unary(folder, inst)
    operation = folder.pending[-1].expr
    assert isinstance(operation, ast.UnaryOp)
    if folder.graph.is_kept and isinstance(operation.operand, ast.Constant):
        value = operation.operand.value
        if isinstance(operation.op, ast.Not):
            operation.operand = _tested(value, folder.graph.code) or operation.operand


def _tested(value: object, code: Code) -> ast.expr | None:
    """Return the constant operand of a `not` that is not folded, or None if it can be written as it is."""
    if "LOAD_SMALL_INT" not in facts_of(code.version, str(code)).table.opcodes.values():
        is_text = isinstance(value, (bool, str))
        return _text(value if isinstance(value, str) else "_" * bool(value)) if is_text else None
    if isinstance(value, (str, bytes)):
        return ast.BinOp(left=ast.Constant(value=value), op=ast.Add(), right=ast.Constant(value=value[:0]))
    if isinstance(value, (int, float, complex)) and not repr(value).startswith("-"):
        return ast.UnaryOp(op=ast.UAdd(), operand=ast.Constant(value=value))
    return None


def binary(folder: Folder, inst: Inst) -> None:
    """BINARY: hide the left operand of a concatenation or repetition from the compiler."""
    values.binary(folder, inst)
    operation = folder.pending[-1].expr
    assert isinstance(operation, ast.BinOp)
    if folder.graph.is_kept and isinstance(operation.left, ast.Constant):
        left, right = operation.left.value, operation.right.value if isinstance(operation.right, ast.Constant) else None
        if isinstance(left, str) and _joins(left, operation.op, right):
            operation.left = _text(left)


def _joins(left: str, op: ast.operator, right: object) -> bool:
    """Return whether a compiler folds an operation on a string and a constant."""
    if isinstance(right, str):
        return isinstance(op, ast.Add)
    return isinstance(right, int) and isinstance(op, ast.Mult) and len(left) * right <= LONGEST


def build_map(folder: Folder, inst: Inst) -> None:
    """BUILD_MAP: constant keys are one constant, in versions with an operation for it."""
    values.build_map(folder, inst)
    display = folder.pending[-1].expr
    assert isinstance(display, ast.Dict)
    if folder.graph.is_kept and len(display.keys) > 1:
        _keep_keys(display, folder.graph.code)


def _keep_keys(display: ast.Dict, code: Code) -> None:
    """Hide one key from the compiler if it would fold all keys into one constant."""
    constants = [key.value for key in display.keys if isinstance(key, ast.Constant)]
    text = next((place for place, value in enumerate(constants) if isinstance(value, str)), None)
    if len(constants) == len(display.keys) and text is not None:
        if "BUILD_CONST_KEY_MAP" in facts_of(code.version, str(code)).table.opcodes.values():
            display.keys[text] = _text(str(constants[text]))


def _text(value: str) -> ast.JoinedStr:
    """Return a string expression that the compiler does not fold."""
    return ast.JoinedStr(values=[ast.Constant(value=value)] if value else [])
