"""What each part of a step costs: plain data, that every view of a profile reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import mean

from depyf.report.profile.charges import REST, Charge


@dataclass(frozen=True, slots=True)
class Cost:
    """What one charge costs: seconds in each step that was kept, and how often in a step it is there."""

    charge: Charge
    each_step: tuple[float, ...]
    times: float

    @property
    def seconds(self) -> float:
        """Return the seconds of a step, the mean of those that were kept."""
        return mean(self.each_step)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the step that the timeline shows, in seconds from its begin."""

    start: float
    end: float
    charge: Charge


@dataclass(slots=True)
class Profile:
    """Where the time of a step went.

    each_step: seconds of each step that was kept, with the profiler.
    profiler: seconds of a step that the profiler itself takes; no cost holds them.
    bare: seconds of each steady step that ran without it.
    left_out: why steps were left out, and how many.
    eager: seconds of each line in each step, by its file and number, where the program ran without compiled code.
    eager_step: seconds of a step there, None where there was none.
    """

    each_step: tuple[float, ...] = ()
    profiler: float = 0.0
    bare: tuple[float, ...] = ()
    left_out: dict[str, int] = field(default_factory=dict)
    costs: list[Cost] = field(default_factory=list)
    timeline: list[Piece] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    on_device: bool = False
    eager: dict[tuple[str, int], tuple[float, ...]] = field(default_factory=dict)
    eager_step: float | None = None

    @property
    def seconds(self) -> float:
        """Return the seconds of a step, the mean of those that were kept, less what the profiler took."""
        return mean(self.each_step) - self.profiler if self.each_step else 0.0

    @property
    def bare_seconds(self) -> float | None:
        """Return the seconds of a step without the profiler, None where none was seen."""
        return mean(self.bare) if self.bare else None

    @property
    def named(self) -> float:
        """Return the share of the step that is in a bucket with a name."""
        rest = sum(cost.seconds for cost in self.costs if cost.charge.kind == REST)
        return 1 - rest / self.seconds if self.seconds else 0.0

    def share(self, seconds: float) -> float:
        """Return what part of a step some seconds are."""
        return seconds / self.seconds if self.seconds else 0.0
