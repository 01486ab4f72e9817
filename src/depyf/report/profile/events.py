"""What a profiler saw, as plain data: events with a name and two times, and the marks that depyf set between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

MARK = "depyf: "
"""Begins the names of depyf's own events."""
STEP = f"{MARK}step"
"""The mark that the user sets between two steps."""
CALL = f"{MARK}call "
"""The mark of a call into compiled code, and the number of the code."""
LINE = f"{MARK}line "
"""The mark of a line of the user's that begins to run: its file and number."""
COMPILING = ("_compile.compile_inner", "backend_compile", "compile_fx_inner", "entire_frame_compile")
"""How events begin that are there only while something is compiled."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that began and ended, in nanoseconds of one clock.

    thread: of the host, or the stream of the device.
    is_device: whether a device did it; `launched_by` is then the number that the host's call of it has as its own.
    """

    name: str
    start: int
    end: int
    thread: int = 0
    is_device: bool = False
    number: int = 0
    launched_by: int = 0
    sequence: int = -1
    """Autograd's number of an operation, which the function of its backward has too; -1 for none."""

    @property
    def is_mark(self) -> bool:
        """Return whether depyf set it."""
        return self.name.startswith(MARK)


@dataclass(slots=True)
class Recording:
    """Everything that was measured of a run.

    windows: the events of each stretch that was profiled.
    bare: of each stretch that was not, when (in seconds) a step of the user's (None) or a call of code by its number
        began.
    lined: events of a stretch in which each line of the user's was marked, empty where there was none.
    eager: the same where the program ran without compiled code.
    eager_bare: when steps began, in seconds, that ran without compiled code and without the profiler.
    codes: what is compiled, by number: name, file and first line.
    notes: what could not be measured, and why.
    """

    windows: list[list[Event]] = field(default_factory=list)
    bare: list[list[tuple[int | None, float]]] = field(default_factory=list)
    lined: list[Event] = field(default_factory=list)
    eager: list[Event] = field(default_factory=list)
    eager_bare: list[float] = field(default_factory=list)
    codes: list[tuple[str, str, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Period:
    """One step: all events that run in it, cut at its two ends."""

    start: int
    end: int
    events: tuple[Event, ...]

    @property
    def seconds(self) -> float:
        """Return how long the step took."""
        return (self.end - self.start) / 1e9


def leading_mark(windows: Iterable[Iterable[Event]]) -> str:
    """Return the name of the mark that begins each step.

    The user's own marks are that, where there are any. Else a step lasts from one call of the code that is called most
    rarely, but again and again, to the next.
    """
    counts: dict[str, list[int]] = {}
    for number, window in enumerate(windows):
        for event in window:
            if event.name == STEP or event.name.startswith(CALL):
                counts.setdefault(event.name, []).append(number)
    if STEP in counts:
        return STEP
    steady = {name: len(seen) for name, seen in counts.items() if len(seen) > len(set(seen))}
    return min(steady, key=lambda name: steady[name], default="")


def periods(window: Iterable[Event], mark: str) -> list[Period]:
    """Return the steps of a window: from each mark to the next."""
    ordered = sorted(window, key=lambda event: (event.start, -event.end))
    marks = [event for event in ordered if event.name == mark]
    found = []
    begin = 0
    for first, second in zip(marks, marks[1:]):
        # A long event may begin well before the step: what ended before is passed over once and for all.
        while begin < len(ordered) and ordered[begin].end <= first.start:
            begin += 1
        inside = []
        for event in ordered[begin:]:
            if event.start >= second.start:
                break
            if event.end > first.start and not event.name.startswith((STEP, CALL)):
                inside.append(event)
        found.append(Period(first.start, second.start, tuple(inside)))
    return found


def pays_for_a_compile(period: Period) -> bool:
    """Return whether something was compiled in a step."""
    return any(event.name.startswith(COMPILING) for event in period.events)
