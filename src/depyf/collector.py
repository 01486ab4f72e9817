"""Python's search for cyclic garbage, and when it waits.

While a code object is decompiled or compared, nearly all objects that are made are kept to the end; the collector looks
at all of them each time that their number has grown by a quarter, which takes half of the time and finds nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Let the collector wait until the end of a `with`, or of each call of what this decorates."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
