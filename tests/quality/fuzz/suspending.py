"""Operations that wait for others: `await`, `yield from`, `async for`; what they do to kinds, and how they are written.

Each waits in the loop that a compiler writes: newer versions protect its YIELD_VALUE by CLEANUP_THROW. An asynchronous
iterator is of kind `a`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.quality.fuzz.lowering import Lowering
from tests.quality.fuzz.program import ASYNC, ASYNC_GENERATOR, COROUTINE, GENERATOR
from tests.quality.fuzz.stack import Stack

MODES = {
    "AWAIT": ASYNC,
    "GET_AITER": ASYNC,
    "ANEXT": ASYNC,
    "ENTER_ASYNC": ASYNC,
    "END_ASYNC_FOR": ASYNC,
    "DELEGATE": frozenset({GENERATOR}),
    "YIELD": frozenset({GENERATOR, ASYNC_GENERATOR}),
}
"""Operations that may stand in code of certain modes only."""
SIMPLE = {
    "AWAIT": ("o", "o"),
    "DELEGATE": ("o", "v"),
    "GET_AITER": ("o", "a"),
    "END_ASYNC_FOR": ("a e", ""),
}
"""What operations take from the stack, and what they leave."""
IN_AWAIT, IN_DELEGATE = 3, 2


def await_next(stack: Stack, arg: object) -> None:
    """ANEXT: the iterator stays."""
    if stack.at(1) != "a":
        raise stack.invalid
    stack.push("o")


def flags_of(mode: str) -> int:
    """Return which of three kinds of code GEN_START is told."""
    return (GENERATOR, COROUTINE, ASYNC_GENERATOR).index(mode)


def wait(low: Lowering, place: int) -> None:
    """Write the loop that hands on what an iterator on top yields; what it returns takes its place.

    place: which kind of waiting RESUME is told.
    What is thrown in finds the SEND right before the YIELD_VALUE: no instruction of the loop has a prefix.
    """
    low.put("LOAD_CONST", low.const(None))
    if low.has("YIELD_FROM"):
        low.put("YIELD_FROM", bare=True)
        return
    again, end = low.new_label(), low.new_label()
    low.pending.append(again)
    low.put("SEND", target=end, bare=True)
    if low.has("END_SEND"):
        caught = low.new_label()
        low.put_protected("YIELD_VALUE", 1, caught, low.height + 2)
    else:
        caught = -1
        low.put("YIELD_VALUE", bare=True)
    low.put("RESUME", place, bare=True)
    low.put("JUMP_BACKWARD_NO_INTERRUPT", target=again, bare=True)
    if caught >= 0:
        low.pending.append(caught)
        low.put("CLEANUP_THROW", bare=True)
    low.pending.append(end)
    if low.has("END_SEND"):
        low.put("END_SEND", bare=True)


def _await(low: Lowering, arg: int) -> None:
    low.put("GET_AWAITABLE", arg if low.has("RESUME") else 0)
    low.height -= 1
    wait(low, IN_AWAIT)


def _delegate(low: Lowering, arg: object) -> None:
    low.put("GET_YIELD_FROM_ITER")
    low.height -= 1
    wait(low, IN_DELEGATE)


def _next(low: Lowering, arg: object) -> None:
    low.put("GET_ANEXT")
    wait(low, IN_AWAIT)


LOWERING: dict[str, Callable[[Lowering, Any], None]] = {
    "AWAIT": _await,
    "DELEGATE": _delegate,
    "ANEXT": _next,
    "GET_AITER": lambda low, arg: low.put("GET_AITER"),
    "END_ASYNC_FOR": lambda low, arg: low.put("END_ASYNC_FOR"),
}
