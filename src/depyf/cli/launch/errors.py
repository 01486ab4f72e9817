"""Errors of the launcher's own inside the program: a line on stderr, and the program goes on."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import NoReturn

MISUSED = 2
"""The exit code of wrong options."""


@contextlib.contextmanager
def contained(doing: str) -> Iterator[None]:
    """Turn an error in the body into a line on stderr."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the program must not be harmed by what is captured of it
        print(f"depyf: {doing} failed ({type(error).__name__}: {error}); the program goes on as it is", file=sys.stderr)


def end_as_misused(told: str) -> NoReturn:
    """End the program: what was asked of the launcher cannot be done.

    Raises:
        SystemExit: always, with the exit code of wrong options.
    """
    print(f"depyf run: {told}", file=sys.stderr)
    raise SystemExit(MISUSED)
