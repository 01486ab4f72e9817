"""Findings about dimensions that a program marked as dynamic although an entry has one size for them.

before: `torch._dynamo.maybe_mark_dynamic(x, 0)`, and `if x.shape[0] == 6` in the compiled function
after: the guard of the entry is `tensor(L["x"], ..., size=(6, 3), marks={"_dynamo_weak_dynamic_indices": {0}})`
"""

from __future__ import annotations

from collections.abc import Iterator

from depyf.bytecode.records import dataclass
from depyf.findings.failures import place
from depyf.findings.sizes import SPECIALIZATION, keywords
from depyf.model.finding import Cost, Finding
from depyf.model.naming import title
from depyf.model.run import Compile, Guard, GuardSet, Session, ShapeFact
from depyf.model.spelling import spelled
from depyf.model.user_line import UserLine

_MARKS = ("_dynamo_weak_dynamic_indices", "_dynamo_dynamic_indices")
"""The attributes in which `maybe_mark_dynamic` and `mark_dynamic` keep dimensions."""


@dataclass(frozen=True, slots=True)
class _Void:
    """A marked dimension with one size: the value, the dimension and the size."""

    subject: str
    dimension: int
    size: int


def of_marks(session: Session) -> Iterator[Finding]:
    """Yield a finding for each marked dimension for which an entry serves only one size."""
    for function, compiled in session.compiles():
        if not isinstance(compiled.guards, GuardSet):
            continue
        for void in _void(compiled.guards.guards):
            fact = _specialization(compiled, void.size)
            where = fact.where if fact is not None else None
            where = where or UserLine(function.filename, function.first_line, "", function.name)
            what = f"Dimension {void.dimension} of `{void.subject}` is marked as dynamic, without effect: "
            serves = f"compile {compiled.id} of `{title(function)}` serves only size {void.size}"
            cost, ids = Cost(None, 0.0, 0), (str(compiled.id),)
            if void.size in (0, 1):
                note = ", because torch compiles a size of 0 or 1 separately"
                yield Finding("void-mark", "low", place(where), what + serves + note, cost, "", ids)
            else:
                why = f", because {_needed(fact)}"
                fix = "remove the comparison or the use of the size as a number; or remove the mark"
                yield Finding("void-mark", "medium", place(where), what + serves + why, cost, fix, ids)


def _needed(fact: ShapeFact | None) -> str:
    if fact is None or fact.where is None or not fact.where.text:
        return "the compiled function needs the size as a number"
    return f"`{fact.where.text}` needs the size as a number"


def _specialization(compiled: Compile, size: int) -> ShapeFact | None:
    """Return torch's record of a size that became this number, or None."""
    facts = (shape for shape in compiled.shapes if shape.kind == SPECIALIZATION and shape.detail == str(size))
    return next(facts, None)


def _void(guards: tuple[Guard, ...]) -> Iterator[_Void]:
    """Yield the marked dimensions that the guards of an entry compare with a number."""
    for guard in guards:
        if guard.kind != "TENSOR_MATCH" or "marks=" not in guard.clause:
            continue
        named = keywords(guard.clause)
        size, marks = named.get("size"), named.get("marks")
        if not isinstance(size, tuple) or not isinstance(marks, dict):
            continue
        for dimension in sorted({dimension for name in _MARKS for dimension in marks.get(name, ())}):
            if dimension < len(size) and type(size[dimension]) is int:
                yield _Void(spelled(guard.source), dimension, size[dimension])
