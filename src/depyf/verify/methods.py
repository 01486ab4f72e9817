"""Methods of exact lists, sets and dicts that perform an operation: `append` is LIST_APPEND, and so on.

Reading such a method runs no code and cannot fail. If the container is fresh and the outcome known, the call cannot be
observed. Otherwise the call is the same observable as the operation. A dict's `extend` and `update` have other error
messages for operands that are not iterable, so they are equivalent for some operands only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from depyf.verify import containers
from depyf.verify.callee import callee
from depyf.verify.frame import Frame
from depyf.verify.terms import Pure, Sort, Term

BOUND = "method of a container"
OPERATIONS = {
    (Sort.LIST, "append"): "LIST_APPEND",
    (Sort.LIST, "extend"): "LIST_EXTEND",
    (Sort.SET, "add"): "SET_ADD",
    (Sort.SET, "update"): "SET_UPDATE",
    (Sort.DICT, "update"): "DICT_UPDATE",
    (Sort.DICT, "__setitem__"): "MAP_ADD",
}
OPERANDS = {"MAP_ADD": 2}
"""The number of operands of a method, if it is not one."""
SILENT: dict[str, Callable[..., bool]] = {
    "LIST_APPEND": containers.append,
    "LIST_EXTEND": containers.extend,
    "DICT_UPDATE": functools.partial(containers.update, only_new=False),
    "MAP_ADD": containers.store_item,
}


def bound_method(frame: Frame, name: object) -> Term | None:
    """Return the bound method of the container on top of the stack, or None if it is not one of these."""
    owner = frame.peek()
    sort = frame.state.exact_type(owner)
    operation = OPERATIONS.get((sort, name)) if sort is not None and isinstance(name, str) else None
    return frame.terms.pure(BOUND, (owner,), operation) if operation is not None else None


def load_attribute(frame: Frame) -> bool:
    """Execute LOAD_ATTR of such a method."""
    method = bound_method(frame, frame.item.arg)
    if method is None:
        return False
    frame.pop()
    frame.push(method)
    return frame.next()


def load_method(frame: Frame) -> bool:
    """Execute LOAD_METHOD of such a method: two values that together stand for it."""
    method = bound_method(frame, frame.item.arg[0] if isinstance(frame.item.arg, tuple) else None)
    if method is None:
        return False
    frame.pop()
    frame.side.stack += (frame.terms.pure("method", (method,)), frame.terms.pure("self", (method,)))
    return frame.next()


def called(frame: Frame) -> tuple[str, tuple[Term, ...], int] | None:
    """Return the operation that a CALL performs, the container and operands, and the number of the callee's slots."""
    match frame.item.arg:
        case (int(count), shape) if count in (1, 2):
            function, extra, slots = callee(frame, shape, count)
        case _:
            return None
    node = frame.node(function)
    if extra or not isinstance(node, Pure) or node.op != BOUND:
        return None
    operation = str(node.detail)
    if OPERANDS.get(operation, 1) != count or not fits(frame, operation, frame.peek()):
        return None
    return operation, (node.items[0], *frame.top(count)), slots


def fits(frame: Frame, operation: str, operand: Term) -> bool:
    """Return whether a method and its operation do the same with an operand, including errors.

    Args:
        frame: the side of the proof.
        operation: the operation.
        operand: the value that the method takes.
    """
    if operation == "LIST_EXTEND":
        return frame.state.items(operand) is not None or frame.state.exact_type(operand) is not None
    if operation == "DICT_UPDATE":
        return frame.state.exact_type(operand) is Sort.DICT
    return True


def call_method(frame: Frame) -> bool:
    """Execute a CALL of such a method if the container is still fresh and the outcome known."""
    method_call = called(frame)
    if method_call is None:
        return False
    operation, operands, slots = method_call
    do = SILENT.get(operation)
    if do is None or not do(frame.state, *operands):
        return False
    frame.pop_many(len(operands) - 1)
    del frame.side.stack[-slots:]
    frame.push(frame.terms.constant(None))
    return frame.next()

