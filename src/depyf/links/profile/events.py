"""The events of a profiler as plain data: each with a name and two times, and depyf's marks between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from depyf.bytecode.records import dataclass

MARK = "depyf: "
"""The prefix of depyf's own events."""
STEP = f"{MARK}step"
"""The mark that the user sets between two steps."""
CALL = f"{MARK}call "
"""The mark of a call of compiled code, followed by the number of the code."""
LINE = f"{MARK}line "
"""The mark before a line of the user's runs, followed by its file and number."""
COMPILING = ("_compile.compile_inner", "backend_compile", "compile_fx_inner", "entire_frame_compile")
"""The prefixes of events that exist only during a compile."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event with its start and end, in nanoseconds of one clock.

    thread: the thread of the host, or the stream of the device.
    is_device: whether it ran on a device. Then `launched_by` is the number of the host's call.
    """

    name: str
    start: int
    end: int
    thread: int = 0
    is_device: bool = False
    number: int = 0
    launched_by: int = 0
    sequence: int = -1
    """Autograd's number of an operation, which its backward function shares; -1 for none."""

    @property
    def is_mark(self) -> bool:
        """Return whether it is one of depyf's marks."""
        return self.name.startswith(MARK)


@dataclass(slots=True)
class Recording:
    """All measurements of a run.

    windows: the events of each profiled stretch.
    bare: for each unprofiled stretch, when (in seconds) a step of the user's (None) or a call of code by its number
        began.
    lined: the events of a stretch in which each line of the user's was marked; may be empty.
    eager: the same while the program ran without compiled code.
    eager_bare: when steps without compiled code and without the profiler began, in seconds.
    codes: the compiled code, by number: name, file and first line.
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
    """One step: all its events, cut off at both ends."""

    start: int
    end: int
    events: tuple[Event, ...]

    @property
    def seconds(self) -> float:
        """Return the duration of the step."""
        return (self.end - self.start) / 1e9


def leading_mark(windows: Iterable[Iterable[Event]]) -> str:
    """Return the name of the mark that begins each step.

    If there are marks of the user's, it is those. Otherwise a step lasts from one call to the next of the code that is
    called repeatedly but least often.
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
    steps = []
    begin = 0
    for first, second in zip(marks, marks[1:]):
        # A long event may begin well before the step. Skip events that ended earlier once and for all.
        while begin < len(ordered) and ordered[begin].end <= first.start:
            begin += 1
        inside = []
        for event in ordered[begin:]:
            if event.start >= second.start:
                break
            if event.end > first.start and not event.name.startswith((STEP, CALL)):
                inside.append(event)
        steps.append(Period(first.start, second.start, tuple(inside)))
    return steps


def pays_for_a_compile(period: Period) -> bool:
    """Return whether something was compiled in a step."""
    return any(event.name.startswith(COMPILING) for event in period.events)
