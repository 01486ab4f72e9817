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


def all_jobs() -> Iterator[Job]:
    """Yield the broken jobs, and then the healthy ones."""
    for number, (ranks, culprit) in enumerate(SIZES):
        for program in CAUSES:
            yield Job(program, ranks, culprit, number)
    for number, (ranks, _) in enumerate(SIZES):
        for program in HEALTHY:
            yield Job(program, ranks, -1, number)
