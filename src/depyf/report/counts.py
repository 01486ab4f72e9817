"""Numbers that every view of a run has to tell alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from depyf.report.model import Compile, GuardSet, UserLine

Place = tuple[UserLine | None, str]
"""Where a graph ends, and why."""


def counted(number: int, what: str, several: str = "") -> str:
    """Return a number with what it counts; `several` is the plural where that is not formed with an `s`.

    >>> counted(1, "graph"), counted(2, "graph"), counted(0, "process", "processes")
    ('1 graph', '2 graphs', '0 processes')
    """
    return f"{number} {what if number == 1 else several or what + 's'}"


def guard_count(compiled: Compile) -> int | None:
    """Return how many guards are shown of a compile; torch's own number, in which some count twice, if none are."""
    return len(compiled.guards.guards) if isinstance(compiled.guards, GuardSet) else compiled.guard_count


@dataclass(frozen=True, slots=True)
class BreakCount:
    """At how many places graphs end, and how often that was so: once for each compile that came to a place."""

    places: int
    times: int

    @property
    def what(self) -> str:
        """Return what is counted, with how often it was."""
        return f"graph break{'' if self.places == 1 else 's'}{self._often}"

    @property
    def number(self) -> str:
        """Return the count alone: `3 (7 times)`."""
        return f"{self.places}{self._often}"

    @property
    def _often(self) -> str:
        return f" ({self.times} times)" if self.times > self.places else ""

    def __str__(self) -> str:
        """Return the count with what it counts.

        >>> str(BreakCount(1, 1)), str(BreakCount(3, 7))
        ('1 graph break', '3 graph breaks (7 times)')
        """
        return f"{self.places} {self.what}"


def break_count(found: Iterable[Place]) -> BreakCount:
    """Count graph breaks, given the place and the reason of each, compile by compile."""
    told = list(found)
    return BreakCount(len(set(told)), len(told))


def places_of_breaks(compiles: Iterable[Compile]) -> list[Place]:
    """Return the place and the reason of each graph break, compile by compile."""
    return [(broken.where, broken.reason) for each in compiles for broken in each.breaks]


def breaks_of(compiles: Iterable[Compile]) -> BreakCount:
    """Count the graph breaks of compiles."""
    return break_count(places_of_breaks(compiles))
