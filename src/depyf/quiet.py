"""Compiling text without the warnings that Python has about it, and without a trace of that.

`warnings.catch_warnings` makes Python forget which warnings it has shown, so that the program that depyf runs in would
show them again. Only the list of filters is another one here, and only for what a compiler warns of.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

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
