"""Sources that the compilers of old Pythons tell apart, and newer ones do not: they come back as they were written.

The name of a file says up to which Python: `until_3_9_*.txt` is for 3.7, 3.8 and 3.9.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import interpreters
from tests.decompiler.again import comes_back

SOURCES = Path(__file__).parent / "old_sources"


def until(path: Path) -> tuple[int, int]:
    """Return the last Python that a source is for."""
    _, major, minor, *_ = path.stem.split("_")
    return int(major), int(minor)


CASES = [
    pytest.param(path, version, id=f"{path.stem}-{interpreters.label(version)}")
    for path in sorted(SOURCES.glob("*.txt"))
    for version in interpreters.VERSIONS
    if version <= until(path)
]


@pytest.mark.parametrize(("path", "version"), CASES)
def test_what_old_compilers_tell_apart_comes_back(path: Path, version: tuple[int, int]) -> None:
    comes_back(path.read_text(encoding="utf-8"), version)
