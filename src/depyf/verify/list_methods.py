"""`append` and `extend` of a list that nobody else has seen: what the operations LIST_APPEND and LIST_EXTEND do."""

from __future__ import annotations

from depyf.verify import containers
from depyf.verify.callee import callee
from depyf.verify.frame import Frame
from depyf.verify.state import ListOf
from depyf.verify.terms import Pure, Term

BOUND = "list method"
METHODS = {"append": containers.append, "extend": containers.extend}


def bound_method(frame: Frame, name: object) -> Term | None:
    """Return the method of the fresh list on top of the stack, or None where it is none of these."""
    owner = frame.peek()
    if not isinstance(frame.state.get(owner), ListOf) or not isinstance(name, str) or name not in METHODS:
        return None
    return frame.terms.pure(BOUND, (owner,), name)


def load_list_attribute(frame: Frame) -> bool:
    """Do LOAD_ATTR of such a method."""
    method = bound_method(frame, frame.item.arg)
    if method is None:
        return False
    frame.pop()
    frame.push(method)
    return frame.next()


def load_list_method(frame: Frame) -> bool:
    """Do LOAD_METHOD of such a method: two values that stand for it together."""
    method = bound_method(frame, frame.item.arg[0] if isinstance(frame.item.arg, tuple) else None)
    if method is None:
        return False
    frame.pop()
    frame.push(frame.terms.pure("method", (method,)), frame.terms.pure("self", (method,)))
    return frame.next()


def call_list_method(frame: Frame) -> bool:
    """Do a CALL of such a method with one argument, where the list is still fresh and the outcome known."""
    match frame.item.arg:
        case (1, shape):
            function, extra, slots = callee(frame, shape, 1)
        case _:
            return False
    node = frame.node(function)
    if extra or not isinstance(node, Pure) or node.op != BOUND:
        return False
    if not METHODS[str(node.detail)](frame.state, node.items[0], frame.peek()):
        return False
    frame.pop()
    del frame.side.stack[-slots:]
    frame.push(frame.terms.constant(None))
    return frame.next()
