"""The jobs: a program of corpus/hung_jobs, its ranks, and what its verdict must name.

The lines of a program with the comment `# here` are those that a verdict may name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parents[2] / "corpus" / "hung_jobs"
SIZES = ((3, 1), (4, 2), (2, 1))
"""For each program three jobs: the number of ranks, and the rank that behaves in another way."""
FRESH_SIZES = ((4, 3), (3, 0), (4, 0), (5, 2))
"""The same for the jobs that no rule was written for: one for each program, in turn."""
CAUSES = {
    "missing_collective": ("branch",),
    "early_stop": ("branch",),
    "rank_branch": ("branch",),
    "rank_shape": ("shape",),
    "rank_dtype": ("shape",),
    "other_order": ("branch",),
    "checkpoint_on_one": ("branch",),
    "dead_by_signal": ("dead",),
    "dead_by_error": ("dead",),
    "dead_by_exit": ("dead",),
    "slow_loader": ("slow",),
    "slow_host": ("slow",),
    "wrong_group": ("groups",),
    "deadlock": ("groups",),
    "long_recompile": ("compiling",),
    "split_guard": ("compiling",),
    "evaluation_on_one": ("compiling",),
    "cold_cache": ("compiling",),
    "lost_message": ("branch",),
    "compiled_against_eager": ("branch",),
}
"""The causes that are right for a program, as `depyf.trace.job.hang.Cause` names them."""
HEALTHY = tuple(sorted(path.stem for path in PROGRAMS.glob("healthy_*.py")))
UNDER_TORCHRUN = ("dead_by_signal", "dead_by_error", "dead_by_exit")
MARK = "# here"


@dataclasses.dataclass(frozen=True)
class Job:
    """One job. `culprit` is -1 if it is healthy."""

    program: str
    ranks: int
    culprit: int
    number: int

    @property
    def name(self) -> str:
        """Return the name of its folder."""
        return f"{self.program}_{self.number}"

    @property
    def path(self) -> Path:
        """Return its program."""
        return PROGRAMS / f"{self.program}.py"

    @property
    def places(self) -> set[str]:
        """Return the places that a verdict may name."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        return {f"{self.path.name}:{number}" for number, line in enumerate(lines, start=1) if MARK in line}


def fresh_jobs() -> Iterator[Job]:
    """Yield a broken job of each program, with ranks that no other job has."""
    for place, program in enumerate(CAUSES):
        ranks, culprit = FRESH_SIZES[place % len(FRESH_SIZES)]
        yield Job(program, ranks, culprit, len(SIZES) + place % 2)


def all_jobs() -> Iterator[Job]:
    """Yield the broken jobs, and then the healthy ones."""
    for number, (ranks, culprit) in enumerate(SIZES):
        for program in CAUSES:
            yield Job(program, ranks, culprit, number)
    for number, (ranks, _) in enumerate(SIZES):
        for program in HEALTHY:
            yield Job(program, ranks, -1, number)
