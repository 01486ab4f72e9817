"""What a call calls, wherever the null or the `self` of its convention stands."""

from __future__ import annotations

from depyf.verify.frame import Frame
from depyf.verify.terms import Null, Pure, Term


def callee(frame: Frame, shape: object, above: int) -> tuple[Term, tuple[Term, ...], int]:
    """Return what is called below `above` operands, the operand that it brings along, and how many slots it takes."""
    if shape == "plain":
        return frame.peek(above + 1), (), 1
    first, second = frame.peek(above + 2), frame.peek(above + 1)
    nodes = frame.node(first), frame.node(second)
    if isinstance(nodes[0], Null) and shape == "below":
        return second, (), 2
    if isinstance(nodes[1], Null) and shape == "above":
        return first, (), 2
    match nodes:
        case (Pure(op="method", items=(method,)), Pure(op="self", items=(owner,))) if method == owner:
            return method, (), 2
        case _:
            return first, (second,), 2
