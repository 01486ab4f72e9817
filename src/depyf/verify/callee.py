"""Find the callee of a call, independent of where the convention puts the NULL or `self`."""

from __future__ import annotations

from depyf.verify.frame import Frame
from depyf.verify.terms import Node, Null, Pure, Term


def called_node(frame: Frame) -> Node | None:
    """Return the node of the current CALL's callee, or None if the callee brings an operand, as a bound method does."""
    match frame.item.arg:
        case (int(count), shape):
            function, extra, _ = callee(frame, shape, count)
            return None if extra else frame.terms.nodes[function]
        case _:
            return None


def callee(frame: Frame, shape: object, above: int) -> tuple[Term, tuple[Term, ...], int]:
    """Return the callee below `above` operands, the operand that it brings, and the number of its stack slots."""
    if shape == "plain":
        return frame.peek(above + 1), (), 1
    first, second = frame.peek(above + 2), frame.peek(above + 1)
    table = frame.terms.nodes
    nodes = table[first], table[second]
    if isinstance(nodes[0], Null) and shape == "below":
        return second, (), 2
    if isinstance(nodes[1], Null) and shape == "above":
        return first, (), 2
    match nodes:
        case (Pure(op="method", items=(method,)), Pure(op="self", items=(owner,))) if method == owner:
            return method, (), 2
        case _:
            return first, (second,), 2
