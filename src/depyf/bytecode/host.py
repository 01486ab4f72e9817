"""depyf's helpers for its own Python: code objects in order, a paused garbage collector, a compiler without warnings.

While depyf decompiles or compares a code object, it keeps nearly all new objects to the end. The collector examines all
of them each time their number has grown by a quarter. That takes half of the time and finds nothing.

`warnings.catch_warnings` makes Python forget which warnings it has shown, so the user's program would show them again.
`without_warnings` only replaces the list of filters.
"""

from __future__ import annotations

import gc
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


def codes_in_order(code: types.CodeType) -> list[types.CodeType]:
    """Return a code object and all code objects nested in it, level by level; a shared one occurs several times."""
    codes = [code]
    for current in codes:
        codes.extend(const for const in current.co_consts if isinstance(const, types.CodeType))
    return codes


def pausing(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Pause the garbage collector during each call of a function."""

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
    """Pause the garbage collector during a `with` statement."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def without_warnings(*categories: type[Warning]) -> Iterator[None]:
    """Suppress warnings of these categories."""
    before = warnings.filters
    warnings.filters = [*(("ignore", None, category, None, 0) for category in categories), *before]
    try:
        yield
    finally:
        warnings.filters = before


def without_compiler_warnings() -> AbstractContextManager[None]:
    """Suppress the compiler's warnings."""
    return without_warnings(SyntaxWarning, DeprecationWarning)
