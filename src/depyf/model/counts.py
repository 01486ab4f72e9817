"""Numbers that all views of a run must show alike."""

from __future__ import annotations

from collections.abc import Iterable

from depyf.bytecode.records import dataclass
from depyf.model.run import Compile, GuardSet
from depyf.model.user_line import UserLine

Place = tuple[UserLine | None, str]
"""The place where a graph ends, and the reason."""


def counted(number: int, what: str, several: str = "") -> str:
    """Return a number with a noun; `several` is the plural if it is not formed with an `s`.

    >>> counted(1, "graph"), counted(2, "graph"), counted(0, "process", "processes")
    ('1 graph', '2 graphs', '0 processes')

    Args:
        number: the count.
        what: the singular.
        several: the plural, if it is not formed with an `s`.
    """
    return f"{number} {what if number == 1 else several or what + 's'}"


def guard_count(compiled: Compile) -> int | None:
    """Return the number of shown guards of a compile, or, if none are shown, torch's number, which has duplicates."""
    return len(compiled.guards.guards) if isinstance(compiled.guards, GuardSet) else compiled.guard_count


@dataclass(frozen=True, slots=True)
class BreakCount:
    """The number of places with a graph break, and the number of compiles that reached such a place."""

    places: int
    times: int

    @property
    def what(self) -> str:
        """Return the noun, with the number of occurrences."""
        return f"graph break{'' if self.places == 1 else 's'}{self._often}"

    @property
    def number(self) -> str:
        """Return only the numbers: `3 (7 times)`."""
        return f"{self.places}{self._often}"

    @property
    def _often(self) -> str:
        return f" ({self.times} times)" if self.times > self.places else ""

    def __str__(self) -> str:
        """Return the number with its noun.

        >>> str(BreakCount(1, 1)), str(BreakCount(3, 7))
        ('1 graph break', '3 graph breaks (7 times)')
        """
        return f"{self.places} {self.what}"


def break_count(places_of_all: Iterable[Place]) -> BreakCount:
    """Count graph breaks, given the place and the reason of each in every compile."""
    places = list(places_of_all)
    return BreakCount(len(set(places)), len(places))


def places_of_breaks(compiles: Iterable[Compile]) -> list[Place]:
    """Return the place and the reason of each graph break, compile by compile."""
    return [(broken.where, broken.reason) for compiled in compiles for broken in compiled.breaks]


def breaks_of(compiles: Iterable[Compile]) -> BreakCount:
    """Count the graph breaks of compiles."""
    return break_count(places_of_breaks(compiles))
