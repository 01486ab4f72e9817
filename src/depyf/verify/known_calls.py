"""Calls of builtins that are constants: how a source spells operations that have no syntax.

A constant is the object itself, so there is no name to look up or to rebind.

`iter(x)` is GET_ITER: both are `PyObject_GetIter`, with its exceptions. `sys.exc_info()` is the exception being handled
as type, value and traceback; WITH_EXCEPT_START calls a manager's exit with these three. `slice(x, y)` is BUILD_SLICE:
neither looks at its operands. THROW raises its operand without setting its context, as RERAISE does. ENTER and
ENTER_ASYNC are ENTER_WITH and ENTER_ASYNC_WITH, with the two results as a tuple. IMPORT is IMPORT_NAME of the module
that its first operand names; IMPORT_FROM is the operation of that name, without the module that it leaves on the stack.

AITER is GET_AITER. `await ANEXT(i)` is GET_ANEXT and the await of its result: nothing happens between the call and the
`await`. `await AWAIT_ENTER(x)` and `await AWAIT_EXIT(x)` are GET_AWAITABLE with the error messages of an `async with`.

SPLIT is CHECK_EG_MATCH with its results as a tuple, and GATHER is PREP_RERAISE_STAR. GATHER distinguishes exceptions by
their tracebacks. If such code throws an exception, only UNTRACE restores its traceback.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Hashable

from depyf.bytecode.constants import key
from depyf.bytecode.known import ENTER, ENTER_ASYNC, IMPORT, IMPORT_FROM, THROW
from depyf.bytecode.known_async import AITER, ANEXT, AWAITS
from depyf.bytecode.known_groups import GATHER, SPLIT, UNTRACE
from depyf.verify.callee import callee
from depyf.verify.frame import THROWN, Frame, as_raised
from depyf.verify.terms import Constant, Sort, Symbol, Term


def called_constant(frame: Frame, count: int) -> object:
    """Return the constant that a CALL with `count` positional operands calls, or None if it calls anything else."""
    match frame.item.arg:
        case (int(given), shape) if frame.item.op == "CALL" and given == count:
            function, extra, _ = callee(frame, shape, count)
            node = frame.node(function)
            return node.value if isinstance(node, Constant) and not extra else None
        case _:
            return None


def takes_iterator(frame: Frame) -> tuple[str, Sort] | None:
    """Return the operation that a call of `iter` or AITER performs, and the sort of its result, or None."""
    called = called_constant(frame, 1)
    if called is builtins.iter:
        return "GET_ITER", Sort.ITERATOR
    return ("GET_AITER", Sort.ASYNC_ITERATOR) if called is AITER else None


def awaited_known(frame: Frame) -> tuple[Hashable, ...] | None:
    """Return the kind of operation that a call of ANEXT, AWAIT_ENTER or AWAIT_EXIT performs with the `await` after it.

    None for any other instruction, or if an exception of the `await` would have another handler.
    """
    called = called_constant(frame, 1)
    kinds = [kind for function, kind in AWAITED if called is function]
    following = frame.listing.instructions[frame.side.place + 1 : frame.side.place + 2]
    is_awaited = any(item.op == "GET_AWAITABLE" and item.handler == frame.item.handler for item in following)
    return kinds[0] if kinds and is_awaited else None


AWAITED: tuple[tuple[object, tuple[Hashable, ...]], ...] = (
    (ANEXT, ("GET_ANEXT", key(None))),
    *((function, ("GET_AWAITABLE", key(where))) for where, function in AWAITS.items()),
)


ON_GROUPS = ((SPLIT, "CHECK_EG_MATCH"), (GATHER, "PREP_RERAISE_STAR"))
ENTERING: dict[object, str] = {ENTER: "ENTER_WITH", ENTER_ASYNC: "ENTER_ASYNC_WITH"}


def entered(frame: Frame) -> str | None:
    """Return the operation that a call of ENTER or ENTER_ASYNC performs, or None for any other instruction."""
    called = called_constant(frame, 1)
    return next((operation for function, operation in ENTERING.items() if function is called), None)


def imported(frame: Frame) -> tuple[str, str, tuple[Term, ...], int] | None:
    """Return the operation that a call of IMPORT or IMPORT_FROM performs, its name, its operands, and their number.

    None for any other instruction.
    """
    if called_constant(frame, 3) is IMPORT:
        operation, count, name, operands = "IMPORT_NAME", 3, frame.peek(3), frame.top(2)
    elif called_constant(frame, 2) is IMPORT_FROM:
        operation, count, name, operands = "IMPORT_FROM", 2, frame.peek(), (frame.peek(2),)
    else:
        return None
    node = frame.node(name)
    return (operation, node.value, operands, count) if isinstance(node, Constant) and type(node.value) is str else None


def call_iter(frame: Frame) -> bool:
    """Execute a call of `iter` on an iterator, or of AITER on an asynchronous one."""
    taking = takes_iterator(frame)
    node = frame.node(frame.peek()) if taking is not None else None
    if taking is None or not (isinstance(node, Symbol) and node.sort is taking[1]):
        return False
    replace_call(frame, 1, frame.peek())
    return frame.next()


def is_iterator(frame: Frame, term: Term) -> bool:
    """Return whether a term is surely an iterator, which is its own iterator: see the decision on iterators."""
    node = frame.node(term)
    return isinstance(node, Symbol) and node.sort is Sort.ITERATOR


def call_slice(frame: Frame) -> bool:
    """Execute a call of `slice` with two or three operands."""
    for count in (2, 3):
        if called_constant(frame, count) is slice:
            bounds = (*frame.top(count), frame.terms.constant(None))[:3]
            replace_call(frame, count, frame.terms.pure("slice", bounds))
            return frame.next()
    return False


def call_throw(frame: Frame) -> bool:
    """Execute a call of THROW with an exception caught here: it raises the exception unchanged, as RERAISE does."""
    if called_constant(frame, 1) is not THROW:
        return False
    exception = frame.peek()
    if not frame.terms.is_caught(exception):
        return False
    frame.raise_known(frame.terms.pure(THROWN, (exception,)) if frame.terms.asks_tracebacks else exception)
    return True


def call_untrace(frame: Frame) -> bool:
    """Execute a call of UNTRACE if the exception being handled was thrown."""
    if called_constant(frame, 0) is not UNTRACE:
        return False
    handling = frame.state.resolve(frame.side.handling)
    exception = as_raised(frame, handling)
    if exception == handling:
        return False
    frame.side.handling = exception
    replace_call(frame, 0, frame.terms.constant(None))
    return frame.next()


def on_group(frame: Frame) -> str | None:
    """Return the operation that a call of SPLIT or GATHER performs, or None for any other instruction."""
    called = called_constant(frame, 2)
    return next((operation for function, operation in ON_GROUPS if function is called), None)


def replace_call(frame: Frame, count: int, result: Term) -> None:
    """Replace the callee and the `count` operands of a call by its result.

    Args:
        frame: the side of the proof.
        count: the number of operands.
        result: the value of the call.
    """
    slots = 1 if isinstance(frame.item.arg, tuple) and frame.item.arg[1] == "plain" else 2
    frame.pop_many(count + slots)
    frame.push(result)


def exception_parts(frame: Frame, exception: Term) -> tuple[Term, Term, Term]:
    """Return type, value and traceback of an exception."""
    terms = frame.terms
    return terms.pure("type", (exception,)), exception, terms.pure("traceback", (exception,))


def call_exc_info(frame: Frame) -> bool:
    """Execute a call of `sys.exc_info` while an exception caught here is being handled."""
    if called_constant(frame, 0) is not sys.exc_info:
        return False
    handling = frame.state.resolve(frame.side.handling)
    if not frame.terms.is_caught(handling):
        return False
    match frame.item.arg:
        case (_, shape):
            _, _, slots = callee(frame, shape, 0)
            del frame.side.stack[-slots:]
    frame.push(frame.terms.tuple_of(exception_parts(frame, handling)))
    return frame.next()
