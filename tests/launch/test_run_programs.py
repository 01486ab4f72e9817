"""Programs under `depyf run` do what they do under `python`: those of `benchmarks.run_programs` that take no time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("click", reason="the command line needs click")

from benchmarks.run_programs import PROGRAMS, Program, compared  # noqa: E402 - after the check that they can run

QUICK = ("arguments --size 4 -m -o there rest", "crashes", "exits_at_once", "warns")
NEEDS_FORK = ("forks",)


@pytest.mark.parametrize(
    "program", [program for program in PROGRAMS if program.name in QUICK], ids=lambda program: program.name
)
def test_a_program_does_what_it_does_under_python(program: Program, tmp_path: Path) -> None:
    comparison = compared(program, tmp_path / "work")
    assert comparison.differences == [] and comparison.missing == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "program", [program for program in PROGRAMS if program.name not in QUICK], ids=lambda program: program.name
)
def test_so_do_the_others(program: Program, tmp_path: Path) -> None:
    if program.name in NEEDS_FORK and not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    comparison = compared(program, tmp_path / "work")
    assert comparison.differences == [] and comparison.missing == []
