"""Python's search for cyclic garbage, and when it waits.

While a code object is decompiled or compared, nearly all objects that are made are kept to the end; the collector looks
at all of them each time that their number has grown by a quarter, which takes half of the time and finds nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


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
