"""The end of an `async for`, in its own operation or as a test for `StopAsyncIteration`.

END_ASYNC_FOR goes on where the exception is a `StopAsyncIteration`, and raises it again as it is where it is none. That
test is CHECK_EXC_MATCH, or MATCH_EXC, with the class as a constant: a known class runs no code in it, so the outcome is
a value. An exception that was thrown is the same object as before, with an entry more in its traceback.
"""

from __future__ import annotations

from depyf.verify.frame import Frame, as_raised
from depyf.verify.terms import Constant, NotUnderstood, Sort, Symbol, Term


def check_exc_match(frame: Frame) -> bool:
    """Do a CHECK_EXC_MATCH of an exception that was caught here with the constant `StopAsyncIteration`."""
    return tests_end(frame) and replace(frame, 1)


def match_exc(frame: Frame) -> bool:
    """Do the same test where it takes the exception too: MATCH_EXC of 3.10 and older."""
    return tests_end(frame) and replace(frame, 2)


def tests_end(frame: Frame) -> bool:
    """Return whether an exception that was caught here is tested for being a `StopAsyncIteration`."""
    exception, kind = frame.top(2)
    node = frame.node(kind)
    return isinstance(node, Constant) and node.value is StopAsyncIteration and is_caught(frame, exception)


def replace(frame: Frame, pops: int) -> bool:
    """Put the outcome of the test in the place of what it takes, and go on."""
    truth = matches(frame, frame.peek(2))
    frame.pop_many(pops)
    frame.push(truth)
    return frame.next()


def end_async_for(frame: Frame) -> bool:
    """Do an END_ASYNC_FOR of which it is known whether the exception is the end."""
    truth = frame.node(ends(frame))
    if not isinstance(truth, Constant):
        return False
    _, exception = frame.pop_many(2)
    if truth.value is True:
        return frame.next()
    frame.raise_known(exception)
    return True


def ends(frame: Frame) -> Term:
    """Return whether the exception at an END_ASYNC_FOR is the end. Raises `NotUnderstood` where it may be none."""
    if not is_caught(frame, frame.peek()):
        raise NotUnderstood("END_ASYNC_FOR of an exception that was not caught here")
    return matches(frame, frame.peek())


def get_aiter(frame: Frame) -> bool:
    """Take the asynchronous iterator of one, which is itself: see the decision on iterators."""
    node = frame.node(frame.peek())
    return isinstance(node, Symbol) and node.sort is Sort.ASYNC_ITERATOR and frame.next()


def is_caught(frame: Frame, term: Term) -> bool:
    """Return whether a value is an exception that was caught here, be it thrown since."""
    return frame.terms.is_caught(as_raised(frame, term))


def matches(frame: Frame, exception: Term) -> Term:
    """Return whether an exception is a `StopAsyncIteration`."""
    kind = frame.terms.constant(StopAsyncIteration)
    return frame.state.resolve(frame.terms.pure("matches", (as_raised(frame, exception), kind)))
