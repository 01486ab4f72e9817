"""The cost of each part of a step, as plain data for all views of a profile."""

from __future__ import annotations

from dataclasses import field
from statistics import mean

from depyf.bytecode.records import dataclass
from depyf.links.profile.charges import REST, Charge


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one charge: its seconds in each kept step, and how often it occurs in a step."""

    charge: Charge
    each_step: tuple[float, ...]
    times: float

    @property
    def seconds(self) -> float:
        """Return the mean seconds per kept step."""
        return mean(self.each_step)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the step on the timeline, in seconds from the start of the step."""

    start: float
    end: float
    charge: Charge


@dataclass(slots=True)
class Profile:
    """The parts of a step's time.

    each_step: the seconds of each kept step, with the profiler.
    profiler: the seconds of a step that the profiler itself takes; no cost includes them.
    bare: the seconds of each steady step without the profiler.
    left_out: why steps were left out, and how many.
    eager: the seconds of each line in each step without compiled code, by file and number.
    eager_step: the seconds of such a step, or None.
    begins_at: the function whose call begins a step (name, file, first line); None if the program marks its steps.
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
    begins_at: tuple[str, str, int] | None = None

    @property
    def seconds(self) -> float:
        """Return the mean seconds per kept step, without the profiler's own time."""
        return mean(self.each_step) - self.profiler if self.each_step else 0.0

    @property
    def bare_seconds(self) -> float | None:
        """Return the seconds of a step without the profiler, or None if there was none."""
        return mean(self.bare) if self.bare else None

    @property
    def named(self) -> float:
        """Return the share of the step that is in a named bucket."""
        rest = sum(cost.seconds for cost in self.costs if cost.charge.kind == REST)
        return 1 - rest / self.seconds if self.seconds else 0.0

    def share(self, seconds: float) -> float:
        """Return some seconds as a share of the step."""
        return seconds / self.seconds if self.seconds else 0.0
