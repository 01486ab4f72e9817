"""The end of an `async for`: an END_ASYNC_FOR, or a test for `StopAsyncIteration`.

END_ASYNC_FOR ends the loop if the exception is a `StopAsyncIteration`, and else raises it again unchanged. The same
test can be a CHECK_EXC_MATCH or MATCH_EXC with the class as a constant. The class is known, so the test runs no code
and its outcome is a value. A thrown exception is the same object as before, with one more entry in its traceback.
"""

from __future__ import annotations

from depyf.verify.frame import Frame, as_raised
from depyf.verify.terms import Constant, NotUnderstood, Sort, Symbol, Term


def check_exc_match(frame: Frame) -> bool:
    """Execute a CHECK_EXC_MATCH between an exception caught here and the constant `StopAsyncIteration`."""
    return tests_end(frame) and replace(frame, 1)


def match_exc(frame: Frame) -> bool:
    """Execute the same test as MATCH_EXC, which also pops the exception (3.10 and older)."""
    return tests_end(frame) and replace(frame, 2)


def tests_end(frame: Frame) -> bool:
    """Return whether an exception caught here is tested for `StopAsyncIteration`."""
    exception, kind = frame.top(2)
    node = frame.node(kind)
    return isinstance(node, Constant) and node.value is StopAsyncIteration and is_caught(frame, exception)


def replace(frame: Frame, pops: int) -> bool:
    """Replace the operands of the test by its outcome, and continue."""
    truth = matches(frame, frame.peek(2))
    frame.pop_many(pops)
    frame.push(truth)
    return frame.next()


def end_async_for(frame: Frame) -> bool:
    """Execute an END_ASYNC_FOR if it is known whether the exception ends the loop."""
    truth = frame.node(ends(frame))
    if not isinstance(truth, Constant):
        return False
    _, exception = frame.pop_many(2)
    if truth.value is True:
        return frame.next()
    frame.raise_known(exception)
    return True


def ends(frame: Frame) -> Term:
    """Return whether the exception at an END_ASYNC_FOR ends the loop. Raises `NotUnderstood` if that is unknown."""
    if not is_caught(frame, frame.peek()):
        raise NotUnderstood("END_ASYNC_FOR of an exception that was not caught here")
    return matches(frame, frame.peek())


def get_aiter(frame: Frame) -> bool:
    """Take the asynchronous iterator of an asynchronous iterator, which is itself: see the decision on iterators."""
    node = frame.node(frame.peek())
    return isinstance(node, Symbol) and node.sort is Sort.ASYNC_ITERATOR and frame.next()


def is_caught(frame: Frame, term: Term) -> bool:
    """Return whether a value is an exception that was caught here, even if it was thrown since."""
    return frame.terms.is_caught(as_raised(frame, term))


def matches(frame: Frame, exception: Term) -> Term:
    """Return the term for whether an exception is a `StopAsyncIteration`."""
    kind = frame.terms.constant(StopAsyncIteration)
    return frame.state.resolve(frame.terms.pure("matches", (as_raised(frame, exception), kind)))
