"""Programs under `depyf run` do what they do under `python`: those of `benchmarks.run_programs` that take no time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("click", reason="the command line needs click")

from benchmarks.run_programs import PROGRAMS, Program, compared  # noqa: E402 - after the check that they can run

AT_ONCE = ("asyncio_tasks", "to_stderr", "at_exit", "changes_directory", "threads")
"""Programs that run one after the other in one process. The last prints when the main thread has ended."""
SEVERAL = Program("several", ("several.py", *AT_ONCE), compiles=2 * len(AT_ONCE))
CHOSEN = (*(program for program in PROGRAMS if program.name not in AT_ONCE), SEVERAL)
NEEDS_FORK = ("forks",)


@pytest.mark.slow
@pytest.mark.parametrize("program", CHOSEN, ids=lambda program: program.name)
def test_a_program_does_what_it_does_under_python(program: Program, tmp_path: Path) -> None:
    if program.name in NEEDS_FORK and not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    comparison = compared(program, tmp_path / "work")
    assert comparison.differences == [] and comparison.missing == []


def test_all_programs_that_run_at_once_are_there() -> None:
    assert set(AT_ONCE) < {program.name for program in PROGRAMS}
