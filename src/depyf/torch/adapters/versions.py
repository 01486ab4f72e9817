"""The versions that a dump was made with. They are told to the reader; no seam is decided by them."""

from __future__ import annotations

import platform
import re
from functools import cache

import torch

NEWEST = (2, 15)
"""The newest release that the contract tests run with: see `docs/support-matrix.md`."""


def torch_version() -> str:
    """Return torch's version, e.g. `2.13.0+cpu`."""
    return str(torch.__version__)


def python_version() -> str:
    """Return Python's version, e.g. `3.11.7`."""
    return platform.python_version()


@cache
def unknown_version() -> str:
    """Return a line about a torch that is newer than any that depyf was tested with, '' for another one.

    It is used as the newest known one is: each seam is looked for, and one that is missing is said in the index.
    """
    return _unknown(torch_version())


def _unknown(version: str) -> str:
    release = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if release <= NEWEST:
        return ""
    newest = ".".join(map(str, NEWEST))
    return f"depyf is tested with torch up to {newest}; this is {version}. What it cannot find, index.md names."
