"""Calls of builtins that stand as constants: a source's words for what an operation does.

A constant is the very object, so no name has to be looked up, and none can be bound to something else.

`iter(x)` is GET_ITER: both are `PyObject_GetIter`, with its exceptions. `sys.exc_info()` is the exception being handled
as type, value and traceback; WITH_EXCEPT_START calls a manager's exit with just these three.
"""

from __future__ import annotations

import builtins
import sys

from depyf.verify.callee import callee
from depyf.verify.frame import Frame
from depyf.verify.terms import Constant, Symbol, Term


def called_constant(frame: Frame, count: int) -> object:
    """Return the constant that a CALL with `count` positional operands calls, None where it calls anything else."""
    match frame.item.arg:
        case (int(given), shape) if frame.item.op == "CALL" and given == count:
            function, extra, _ = callee(frame, shape, count)
            node = frame.node(function)
            return node.value if isinstance(node, Constant) and not extra else None
        case _:
            return None


def takes_iterator(frame: Frame) -> bool:
    """Return whether a side stands at a call of `iter` with one argument."""
    return called_constant(frame, 1) is builtins.iter


def exception_parts(frame: Frame, exception: Term) -> tuple[Term, Term, Term]:
    """Return type, value and traceback of an exception."""
    terms = frame.terms
    return terms.pure("type", (exception,)), exception, terms.pure("traceback", (exception,))


def call_exc_info(frame: Frame) -> bool:
    """Do a call of `sys.exc_info` where an exception is being handled that was caught here."""
    if called_constant(frame, 0) is not sys.exc_info:
        return False
    handling = frame.state.resolve(frame.side.handling)
    node = frame.node(handling)
    if not (isinstance(node, Symbol) and node.detail == "caught"):
        return False
    match frame.item.arg:
        case (_, shape):
            _, _, slots = callee(frame, shape, 0)
            del frame.side.stack[-slots:]
    frame.push(frame.terms.tuple_of(exception_parts(frame, handling)))
    return frame.next()
