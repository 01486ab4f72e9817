"""Errors of the launcher's own inside the program: a line on stderr, and the program goes on."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def contained(doing: str) -> Iterator[None]:
    """Turn an error in the body into a line on stderr."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the program must not be harmed by what is captured of it
        print(f"depyf: {doing} failed ({type(error).__name__}: {error}); the program goes on as it is", file=sys.stderr)
