"""A finding, as plain data: one cause, with its cost and its fix."""

from __future__ import annotations

from typing import Literal, TypeAlias

from depyf.bytecode.records import dataclass
from depyf.model.codec import INTEGER, NUMBER, POSITIVE, TEXT, Record, Row, choice, nullable, several
from depyf.model.compile_id import ID_TEXT

Severity: TypeAlias = Literal["high", "medium", "low"]
"""`high`: it failed, runs eagerly or recompiles again and again; `medium`: it costs time; `low`: good to know."""

SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")
"""All severities, worst first."""


@dataclass(frozen=True, slots=True)
class Where:
    """A line of the user's source, in the function of that name. The line is 0 if torch does not name it."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a cause. `eager_calls` is None if this torch or this Python does not count them."""

    eager_calls: int | None
    compile_seconds: float
    compiles: int


@dataclass(frozen=True, slots=True)
class Difference:
    """Something else that differed in calls of a finding: its sentence, its place, its fix, and in how many calls."""

    kind: str
    where: Where | None
    cause: str
    fix: str
    count: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause: `kind` is its name in the catalogue, `cause` is one sentence, `fix` is "" if there is no advice.

    `compiles` are the ids of the compiles that show it, and `also` what else differed in these calls. `tried` is the
    result of what `depyf fix` tried for it, "" before that.
    """

    kind: str
    severity: Severity
    where: Where | None
    cause: str
    cost: Cost
    fix: str
    compiles: tuple[str, ...]
    also: tuple[Difference, ...] = ()
    tried: str = ""

    @property
    def line(self) -> str:
        """Return the finding in one line: cause, place, fix, and what was tried."""
        place = f" ({self.where})" if self.where is not None else ""
        fix = f" Fix: {self.fix}" if self.fix else ""
        return f"{self.cause}{place}.{fix}" + (f" Tried: {self.tried}" if self.tried else "")


WHERE_ROWS = Record(
    Where,
    Row("file", TEXT),
    Row("line", INTEGER, about="0 if torch does not name it."),
    Row("function", TEXT),
)
COST_ROWS = Record(
    Cost,
    Row("eager_calls", nullable(INTEGER), about="Null if they are not counted."),
    Row("compile_seconds", NUMBER),
    Row("compiles", INTEGER),
)
DIFFERENCE_ROWS = Record(
    Difference,
    Row("kind", TEXT),
    Row("where", nullable(WHERE_ROWS.form)),
    Row("cause", TEXT),
    Row("fix", TEXT),
    Row("count", POSITIVE, about="In how many of these calls."),
)
FINDING_ROWS = Record(
    Finding,
    Row("kind", TEXT, about="Its name in the catalogue of findings."),
    Row(
        "severity",
        choice(*SEVERITIES),
        about="high: it failed, runs eagerly or recompiles again and again; medium: it costs time; low: good to know.",
    ),
    Row("where", nullable(WHERE_ROWS.form)),
    Row("cause", TEXT, about="One sentence, without a full stop."),
    Row("cost", COST_ROWS.form),
    Row("fix", TEXT, about="The fix; empty if there is no advice."),
    Row("compiles", several(ID_TEXT)),
    Row("also", several(DIFFERENCE_ROWS.form), about="The other differences in these calls.", default=()),
    Row("tried", TEXT, about="The result of what `depyf fix` tried for it.", default="", is_left_out=True),
)
