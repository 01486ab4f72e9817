"""The versions with which a dump was made, for the reader. No seam depends on them."""

from __future__ import annotations

import platform
import re
from functools import cache

import torch

NEWEST = (2, 15)
"""The newest release that the contract tests run with: see `docs/support-matrix.md`."""


def torch_version() -> str:
    """Return torch's version, for example `2.13.0+cpu`."""
    return str(torch.__version__)


def python_version() -> str:
    """Return Python's version, for example `3.11.7`."""
    return platform.python_version()


@cache
def unknown_version() -> str:
    """Return a line about a torch that is newer than any tested one, or "".

    depyf treats it like the newest known release: it probes for each seam, and the index lists the missing ones.
    """
    return _unknown(torch_version())


def _unknown(version: str) -> str:
    release = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if release <= NEWEST:
        return ""
    newest = ".".join(map(str, NEWEST))
    return f"depyf is tested with torch up to {newest}; this is {version}. index.md lists what depyf cannot find."
