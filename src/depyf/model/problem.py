"""An error inside depyf, as plain data."""

from __future__ import annotations

from depyf.bytecode.records import dataclass
from depyf.model.codec import TEXT, Record, Row


@dataclass(slots=True)
class Problem:
    """An error inside depyf: where, what, and the traceback."""

    where: str
    message: str
    details: str = ""


PROBLEM_ROWS = Record(Problem, Row("where", TEXT), Row("message", TEXT))
