"""Sources of which old code keeps no more than the lines: they come back with the tree that was written.

The name of a file says from which Python to which: `from_3_8_to_3_10_*.txt`. Each holds forms that lines tell apart.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import interpreters
from tests.decompiler.again import tree_comes_back

SOURCES = Path(__file__).parent / "old_sources" / "by_lines"


def is_of(path: Path, version: tuple[int, int]) -> bool:
    """Return whether a source is for a Python."""
    _, *since, _, major, minor = path.stem.split("_")[:6]
    return tuple(map(int, since)) <= version <= (int(major), int(minor))


CASES = [
    pytest.param(path, version, id=f"{path.stem}-{interpreters.label(version)}")
    for path in sorted(SOURCES.glob("*.txt"))
    for version in interpreters.VERSIONS
    if is_of(path, version)
]


@pytest.mark.parametrize(("path", "version"), CASES)
def test_what_lines_tell_apart_comes_back(path: Path, version: tuple[int, int]) -> None:
    tree_comes_back(path.read_text(encoding="utf-8"), version)
