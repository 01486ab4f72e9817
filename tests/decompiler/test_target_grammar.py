"""The source is in the grammar of the Python that the bytecode is for: that Python itself compiles it, to the same.

What newer grammars allow without parentheses, or at all, is written as the oldest Python of the case takes it. The
programs are in `grammars.txt`: a line `#: NAME since VERSION` opens each.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import interpreters
from tests.decompiler.again import exact

PROGRAMS = (Path(__file__).parent / "grammars.txt").read_text(encoding="utf-8").split("#: ")[1:]


def name(program: str) -> str:
    """Return what a program shows."""
    return program.partition(" since")[0]


def since(program: str) -> tuple[int, int]:
    """Return the first Python that a program is for."""
    major, minor = program.partition("\n")[0].rpartition(" ")[2].split(".")
    return int(major), int(minor)


CASES = [
    pytest.param(program.partition("\n")[2], version, id=f"{name(program)}-{interpreters.label(version)}")
    for program in PROGRAMS
    for version in interpreters.VERSIONS
    if version >= since(program)
]


@pytest.mark.parametrize(("source", "version"), CASES)
def test_its_own_python_compiles_it(source: str, version: tuple[int, int]) -> None:
    exact(source, version)
