"""Functions that are constants in a source, for the parts of `async` statements that have no statement of their own.

AITER takes the asynchronous iterator of a value as an `async for` does. `await ANEXT(i)` awaits its next value as an
`async for` does, which calls `__await__` itself and has its own error message. `await AWAIT_ENTER(x)` and `await
AWAIT_EXIT(x)` await the results of a manager's methods, because a plain `await` fails with another message.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from depyf.bytecode.code import CO_ITERABLE_COROUTINE
from depyf.bytecode.known import MISSING, bound, on_type

Waits = Callable[[object], object]


class _Given:
    """A wrapper that returns its content: as an awaitable its iterator, as an iterable or manager its result."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __await__(self) -> object:
        return self.value

    def __aiter__(self) -> object:
        return self.value

    def __aenter__(self) -> Any:  # noqa: ANN401  (of any type)
        return self.value

    def __aexit__(self, *parts: object) -> Any:  # noqa: ANN401  (likewise)
        return self.value


def _fail(run: Callable[[object], Coroutine[object, object, object]], value: object) -> NoReturn:
    """Fail as the interpreter does."""
    run(value).send(None)
    raise AssertionError("an object that cannot be awaited was awaited")


async def _plain(value: object) -> None:
    await value  # type: ignore[misc]


async def _loop(value: object) -> None:
    async for _ in value:  # type: ignore[attr-defined]
        pass


async def _enter(value: object) -> None:
    async with _Given(value):
        pass


class _Left:
    """A manager whose exit returns a value that cannot be awaited."""

    def __init__(self, value: object) -> None:
        self.value = value

    async def __aenter__(self) -> None:
        return None

    def __aexit__(self, *parts: object) -> Any:  # noqa: ANN401  (of any type)
        return self.value


async def _leave(value: object) -> None:
    async with _Left(value):
        pass


def _aiter(value: object) -> object:
    """Return the asynchronous iterator of a value."""
    method = on_type(type(value), "__aiter__")
    if method is MISSING:
        _fail(_loop, value)
    iterator = bound(method, value)()  # type: ignore[operator]
    if on_type(type(iterator), "__anext__") is MISSING:
        _fail(_loop, _Given(iterator))
    return iterator


def _anext(iterator: object) -> object:
    """Return the awaitable for the next value of an asynchronous iterator."""
    value = bound(on_type(type(iterator), "__anext__"), iterator)()  # type: ignore[operator]
    if type(iterator) is types.AsyncGeneratorType or _is_coroutine(value):
        return value
    try:
        return _Given(_awaited(value))
    except BaseException as error:
        kind = type(value).__name__
        raise TypeError(f"'async for' received an invalid object from __anext__: {kind:.100}") from error


def _awaited(value: object) -> object:
    """Return the iterator of an awaitable, as `await` obtains it."""
    method = on_type(type(value), "__await__")
    if method is MISSING:
        _fail(_plain, value)
    iterator = bound(method, value)()  # type: ignore[operator]
    if _is_coroutine(iterator) or on_type(type(iterator), "__next__") is MISSING:
        _fail(_plain, _named_like(value, iterator))
    return iterator


def _named_like(value: object, iterator: object) -> object:
    """Return an awaitable with this iterator, of a type with the name of `value`'s type."""
    kind = type(value)
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    given: object = type(kind.__name__, (_Given,), names)(iterator)
    return given


def _is_coroutine(value: object) -> bool:
    """Return whether `await` uses a value itself, without `__await__`."""
    is_marked = type(value) is types.GeneratorType and value.gi_code.co_flags & CO_ITERABLE_COROUTINE
    return type(value) is types.CoroutineType or bool(is_marked)


def _awaiting(run: Callable[[object], Coroutine[object, object, object]]) -> Waits:
    """Return a function that returns an awaitable, and fails with the messages of an `async with`."""

    def waits(value: object) -> object:
        if not _is_coroutine(value) and on_type(type(value), "__await__") is MISSING:
            _fail(run, value)
        return value

    return waits


AITER = _aiter
"""Takes the asynchronous iterator of a value."""
ANEXT = _anext
"""Returns the awaitable for the next value of an asynchronous iterator."""
AWAIT_ENTER = _awaiting(_enter)
"""Returns an awaitable for the result of `__aenter__`."""
AWAIT_EXIT = _awaiting(_leave)
"""Returns an awaitable for the result of `__aexit__`."""
AWAITS = {1: AWAIT_ENTER, 2: AWAIT_EXIT}
"""By the argument of GET_AWAITABLE: the function between `await` and its operand."""
AITER.__name__ = AITER.__qualname__ = "aiter"
ANEXT.__name__ = ANEXT.__qualname__ = "anext"
AWAIT_ENTER.__name__ = AWAIT_ENTER.__qualname__ = "entering"
AWAIT_EXIT.__name__ = AWAIT_EXIT.__qualname__ = "leaving"
