"""What depyf needs of the Python that it runs in: code objects, a collector that waits, a compiler without warnings.

While a code object is decompiled or compared, nearly all new objects are kept to the end. The collector looks at all of
them each time their number has grown by a quarter: that takes half of the time and finds nothing.

`warnings.catch_warnings` makes Python forget which warnings it has shown, so that the user's program would show them
again. `without_compiler_warnings` only puts another list of filters in place.
"""

from __future__ import annotations

import gc
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


def codes_in_order(code: types.CodeType) -> list[types.CodeType]:
    """Return a code object and all code objects nested in it, level by level; a shared one stands several times."""
    found = [code]
    for current in found:
        found.extend(const for const in current.co_consts if isinstance(const, types.CodeType))
    return found


def pausing(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Let the collector wait until the end of each call of a function."""

    @wraps(function)
    def call(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        if not gc.isenabled():
            return function(*args, **kwargs)
        gc.disable()
        try:
            return function(*args, **kwargs)
        finally:
            gc.enable()

    return call


@contextmanager
def paused() -> Iterator[None]:
    """Let the collector wait until the end of a `with` statement."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


_IGNORED = tuple(("ignore", None, category, None, 0) for category in (SyntaxWarning, DeprecationWarning))


@contextmanager
def without_compiler_warnings() -> Iterator[None]:
    """Let the compiler warn of nothing."""
    before = warnings.filters
    warnings.filters = [*_IGNORED, *before]
    try:
        yield
    finally:
        warnings.filters = before
