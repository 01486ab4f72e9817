"""Sources that come back as they were written, from the code of every Python that has their syntax.

The name of a file says since which Python: `since_3_12_*.txt`. Those in `laid_out` tell by lines and columns what was
written, and come back with the same tree.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import interpreters
from tests.decompiler.again import comes_back, tree_comes_back

SOURCES = Path(__file__).parent / "sources"


def since(path: Path) -> tuple[int, int]:
    """Return the first Python that a source is for."""
    _, major, minor, *_ = path.stem.split("_")
    return int(major), int(minor)


def cases(folder: Path) -> list[object]:
    """Return the sources of a folder, each with every Python that is at hand and has its syntax."""
    return [
        pytest.param(path, version, id=f"{path.stem}-{interpreters.label(version)}")
        for path in sorted(folder.glob("*.txt"))
        for version in interpreters.VERSIONS
        if version >= since(path)
    ]


@pytest.mark.parametrize(("path", "version"), cases(SOURCES))
def test_what_is_written_comes_back(path: Path, version: tuple[int, int]) -> None:
    comes_back(path.read_text(encoding="utf-8"), version)


@pytest.mark.parametrize(("path", "version"), cases(SOURCES / "laid_out"))
def test_trees_come_back(path: Path, version: tuple[int, int]) -> None:
    tree_comes_back(path.read_text(encoding="utf-8"), version)
