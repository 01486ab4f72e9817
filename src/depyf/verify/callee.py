"""Find the callee and the operands of a call, independent of its form and of where it puts the NULL or `self`."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from depyf.bytecode.listing import Instruction
from depyf.verify.frame import Frame
from depyf.verify.state import DictOf
from depyf.verify.terms import Constant, Node, NotUnderstood, Null, Pure, Term, TupleOf


def called_node(frame: Frame) -> Node | None:
    """Return the node of the current CALL's callee, or None if the callee brings an operand, as a bound method does."""
    match frame.item.arg:
        case (int(count), shape):
            function, extra, _ = callee(frame, shape, count)
            return None if extra else frame.terms.nodes[function]
        case _:
            return None


def callee(frame: Frame, shape: object, above: int) -> tuple[Term, tuple[Term, ...], int]:
    """Return the callee below `above` operands, the operand that it brings, and the number of its stack slots.

    Args:
        frame: the side of the proof.
        shape: where the callee stands: `plain`, or with a NULL `below` or `above` it.
        above: the number of operands above it on the stack.
    """
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


Callee = tuple[Term, tuple[Term, ...], tuple[Hashable, ...], int]
"""The callee, its operands, the kind of the event, and the number of values that leave the stack."""


def call_positional(frame: Frame, item: Instruction) -> Callee:
    """Read a CALL."""
    match item.arg:
        case (int(count), shape):
            function, extra, slots = callee(frame, shape, count)
            operands = (*extra, *frame.top(count))
            return function, operands, ("CALL", len(operands), ()), count + slots
        case _:
            raise NotUnderstood("CALL without a count")


def call_keywords(frame: Frame, item: Instruction) -> Callee:
    """Read a CALL_KW."""
    names = frame.node(frame.peek())
    match item.arg:
        case (int(count), shape) if isinstance(names, TupleOf):
            function, extra, slots = callee(frame, shape, count + 1)
            operands = (*extra, *frame.top(count + 1)[:-1])
            words = tuple(keyword(frame, name) for name in names.items)
            return function, operands, ("CALL", len(operands), words), count + 1 + slots
        case _:
            raise NotUnderstood("CALL_KW without constant names")


def keyword(frame: Frame, name: Term) -> str:
    """Return the name of a keyword argument."""
    node = frame.constant(name)
    if node is None or not isinstance(node.value, str):
        raise NotUnderstood("a keyword that is not a string")
    return node.value


def call_unpacked(frame: Frame, item: Instruction) -> Callee:
    """Read a CALL_EX. With known arguments it equals the call that spells them out."""
    match item.arg:
        case (bool(has_kwargs), shape):
            pass
        case _:
            raise NotUnderstood("CALL_EX without a shape")
    above = 1 + has_kwargs
    function, extra, slots = callee(frame, shape, above)
    if extra:
        raise NotUnderstood("CALL_EX of a method")
    arguments = frame.peek(above)
    items = frame.state.items(arguments)
    pops = above + slots
    mapping = frame.peek() if has_kwargs and not isinstance(frame.node(frame.peek()), Null) else None
    words = keyword_items(frame, mapping) if mapping is not None else ()
    if items is not None and words is not None:
        operands = (*items, *(value for _, value in words))
        return function, operands, ("CALL", len(operands), tuple(name for name, _ in words)), pops
    if items is not None:
        arguments = frame.terms.tuple_of(items)
    operands = (arguments,) if mapping is None or words == () else (arguments, mapping)
    return function, operands, ("CALL_EX", len(operands)), pops


def keyword_items(frame: Frame, mapping: Term) -> tuple[tuple[str, Term], ...] | None:
    """Return the keywords in a fresh dict, or None if they are unknown."""
    content = frame.state.get(mapping)
    if not isinstance(content, DictOf):
        return None
    nodes = [(frame.node(name), value) for name, value in content.entries.values()]
    words = [(node.value, value) for node, value in nodes if isinstance(node, Constant) and isinstance(node.value, str)]
    return tuple(words) if len(words) == len(nodes) else None


CALLS: dict[str, Callable[[Frame, Instruction], Callee]] = {
    "CALL": call_positional,
    "CALL_KW": call_keywords,
    "CALL_EX": call_unpacked,
}
