"""The failure of a compile, and of a call of its code, as plain data."""

from __future__ import annotations

from depyf.bytecode.records import dataclass
from depyf.model.codec import FLAG, INTEGER, TEXT, Record, Row, nullable, several
from depyf.model.line_row import LINE
from depyf.model.user_line import UserLine

HINT = "Hint:"
EXPLANATION = "Explanation:"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why Dynamo gave a frame up: the exception's type and message, and the part of the compiler that raised it.

    raised: whether the program received the exception or ran eagerly; None if unknown.
    causes: the exceptions that led to it, outermost first, each with its type and its first line.
    demanded_by: what in the program asks for one whole graph, such as `fullgraph=True`; "" if nothing does.
    """

    kind: str
    reason: str
    where: UserLine | None
    phase: str = ""
    raised: bool | None = None
    causes: tuple[str, ...] = ()
    demanded_by: str = ""

    @property
    def summary(self) -> str:
        """Return what happened, in one line."""
        return self.reason.partition("\n")[0]

    @property
    def hints(self) -> list[str]:
        """Return the hints of torch's registry of graph breaks, which are part of the message."""
        return self._told(HINT)

    @property
    def explanations(self) -> list[str]:
        """Return torch's explanations of this graph break and of the others that it met while it gave up."""
        return self._told(EXPLANATION)

    def _told(self, what: str) -> list[str]:
        lines = (line.strip() for line in self.reason.splitlines())
        return [line.removeprefix(what).strip() for line in lines if line.startswith(what)]


FAILURE_ROWS = Record(
    Failure,
    Row("kind", TEXT),
    Row("reason", TEXT),
    Row("where", LINE, about="The user's line at the end of torch's traceback.", default=None),
    Row("phase", TEXT, about="The part of the compiler that raised it; empty if unknown.", default=""),
    Row(
        "raised",
        nullable(FLAG),
        about="Whether the program received the exception, as with fullgraph=True, or the function ran eagerly; "
        "null if unknown.",
        default=None,
    ),
    Row("causes", several(TEXT), about="The exceptions that led to it, outermost first.", default=()),
    Row(
        "demanded_by",
        TEXT,
        about="The part of the program that asks for one whole graph, such as `fullgraph=True`.",
        default="",
    ),
)


MOST_CALL_FAILURES = 8
"""The most different exceptions in calls of one compile's code that are kept."""


@dataclass(slots=True)
class CallFailure:
    """An exception that the code of the backend raised in calls, and in how many.

    The `where` of the failure is the user's line that made the call, or a line of the compiled function if the
    traceback names one.
    """

    failure: Failure
    times: int = 1


CALL_FAILURE_ROWS = Record(CallFailure, Row("times", INTEGER), inside=FAILURE_ROWS, into="failure", changes=True)
