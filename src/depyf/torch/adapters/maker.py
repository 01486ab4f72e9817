"""Identify the depyf and the Python that make a result which is kept between runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from depyf.version import __version__

SOURCES = ("bytecode", "verify", "decompiler", "model", "torch")
"""The packages whose code decides about a result."""


def maker() -> tuple[Any, ...]:
    """Return plain data that differs between two depyfs and between two Pythons.

    While depyf is developed, its version stays and its files change, so their times and sizes count.
    """
    files: tuple[Any, ...] = ()
    if "dev" in __version__:
        root = Path(__file__).parents[2]
        files = tuple(stamp for package in SOURCES for stamp in sorted(stamps(str(root / package))))
    return __version__, files, sys.version, sys.implementation.cache_tag, sys.flags.optimize


def stamps(folder: str) -> Iterator[tuple[str, int, int]]:
    """Yield the path, the time and the size of each Python file in a folder and the folders in it."""
    folders = [folder]
    for directory in folders:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir():
                    folders.append(entry.path)
                elif entry.name.endswith(".py"):
                    status = entry.stat()
                    yield entry.path, status.st_mtime_ns, status.st_size
