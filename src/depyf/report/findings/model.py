"""What a run's reader should know first: each cause once, with its cost and what to do about it. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["high", "medium", "low"]
"""`high`: it failed, runs eager or compiles again and again; `medium`: it costs; `low`: good to know."""

SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")
"""All of them, the worst first."""


@dataclass(frozen=True, slots=True)
class Where:
    """A line of the user's source, in the function of that name; the line is 0 where torch does not tell it."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Cost:
    """What a cause cost: `eager_calls` is None where this torch or this Python does not count them."""

    eager_calls: int | None
    compile_seconds: float
    compiles: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause: `kind` names it in the catalogue, `cause` is one sentence, `fix` is empty where nothing is advised.

    `compiles` are the ids of the compiles that show it.
    """

    kind: str
    severity: Severity
    where: Where | None
    cause: str
    cost: Cost
    fix: str
    compiles: tuple[str, ...]

    @property
    def line(self) -> str:
        """Return the finding in one line: cause, place and fix."""
        place = f" ({self.where})" if self.where is not None else ""
        return f"{self.cause}{place}." + (f" Fix: {self.fix}" if self.fix else "")
