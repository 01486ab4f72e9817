"""Two programs for a kind of finding: one that shows it, and the same with the fix applied by the letter of the advice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

Run: TypeAlias = Callable[[], list[Any]]

HERE = "# here"
"""Ends the line of a program that its finding has to name."""


@dataclass(frozen=True)
class Pair:
    """Programs that give the results of all their calls.

    `fixed` is None where the kind has no advice: it is expected, or it is nothing that a program can change.
    """

    kind: str
    shown: Run
    fixed: Run | None


PAIRS: dict[str, Pair] = {}
"""All pairs by kind."""


def pair(kind: str, shown: Run, fixed: Run | None = None) -> None:
    """Add a pair."""
    assert kind not in PAIRS, kind
    PAIRS[kind] = Pair(kind, shown, fixed)


def shows(kind: str) -> Callable[[Run], Run]:
    """Return a decorator for the program that shows a kind."""

    def add(program: Run) -> Run:
        pair(kind, program)
        return program

    return add


def follows(kind: str) -> Callable[[Run], Run]:
    """Return a decorator for the program in which the advice of a kind is followed."""

    def add(program: Run) -> Run:
        PAIRS[kind] = Pair(kind, PAIRS[kind].shown, program)
        return program

    return add
