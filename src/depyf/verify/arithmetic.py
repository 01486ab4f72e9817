"""Evaluate operators on constants, because the compiler may have folded them on one side."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

LARGEST = 1 << 64
"""Larger numbers are not computed. The compiler also stops folding at some size."""

UNARY: dict[str, Callable[..., object]] = {"-": operator.neg, "+": operator.pos}
BINARY: dict[str, Callable[..., object]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
INTEGER: dict[str, Callable[..., object]] = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
COMPARE: dict[str, Callable[..., object]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
EQUAL = (str, bytes, int, type(None))


def is_number(value: object) -> bool:
    """Return whether a value is an exact int or float of ordinary size."""
    if type(value) is int:
        return abs(value) < LARGEST
    return type(value) is float


def operate(op: str, *values: object) -> object | None:
    """Return the result of an arithmetic operator, or None if it is not computed."""
    if not all(is_number(value) for value in values):
        return None
    if len(values) == 1:
        if op == "~" and type(values[0]) is int:
            return ~values[0]
        return UNARY[op](*values) if op in UNARY else None
    if op in INTEGER and all(type(value) is int for value in values):
        return INTEGER[op](*values)
    return BINARY[op](*values) if op in BINARY else None


def compare(op: str, first: object, second: object) -> bool | None:
    """Return the result of a comparison, or None if it is not computed.

    Args:
        op: the operator, for example `<`.
        first: the left operand.
        second: the right operand.
    """
    numbers = is_number(first) and is_number(second)
    if numbers or op in ("==", "!=") and type(first) in EQUAL and type(second) in EQUAL:
        return bool(COMPARE[op](first, second))
    return None


def contains(value: object, values: Sequence[object]) -> bool | None:
    """Return whether a constant is among others, or None if that is not computed."""
    if all(type(item) in EQUAL for item in (value, *values)):
        return any(item == value for item in values)
    return None
