"""Two programs for a kind of finding: one that shows it, and the same with the fix applied by the letter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

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

    @property
    def lacking(self) -> str:
        """Return why the running torch cannot have the kind, empty where it can."""
        release = ".".join(torch.__version__.split(".")[:2])
        return LACKING.get(self.kind, {}).get(release, "")


_TRACED = "this release traces it"
_UNRECORDED = "torch writes no record of what a call changes"
_SYMBOL = "a number of a module is a symbol after its first change"
LACKING = {
    "break-tolist": {"2.6": _TRACED, "2.9": _TRACED},
    "break-random": {"2.15": _TRACED},
    "break-generator": {
        "2.6": "this release does not keep the rest of a generator",
        "2.9": "this release says only that it does not inline `functools.reduce`",
        "2.15": "this release runs all of the function eager, because of the break alone",
    },
    "break-unknown-method": {"2.6": "this release has other words for all of these"},
    "counter": {"2.6": _SYMBOL},
    "counter-in-condition": {"2.6": _SYMBOL},
    "growing-container": {"2.4": "torch fails with an error of its own: FakeRootModule lacks the items of the list"},
    "recompile-limit": {"2.6": "torch writes no record of a call past the limit"},
    "set-in-call": {"2.6": _UNRECORDED, "2.9": _UNRECORDED},
}
"""Kinds that a release cannot have, and why. The tool sees to it that the program really does not show them there."""

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
