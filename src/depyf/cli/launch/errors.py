"""Errors of the launcher inside the program: one line on stderr, and the program continues."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import NoReturn

MISUSED = 2
"""The exit code for wrong options."""


@contextlib.contextmanager
def contained(doing: str) -> Iterator[None]:
    """Turn an error in the body into a line on stderr."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the program must not be harmed by what is captured of it
        print(f"depyf: {doing} failed ({type(error).__name__}: {error}); the program continues", file=sys.stderr)


def end_as_misused(message: str) -> NoReturn:
    """End the program because the launcher's options cannot be satisfied.

    Raises:
        SystemExit: always, with the exit code for wrong options.
    """
    print(f"depyf run: {message}", file=sys.stderr)
    raise SystemExit(MISUSED)
