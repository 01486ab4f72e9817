"""Functions that were compiled again, by what the nearest entry refused; and those that reached the limit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from depyf.report.advice import advice
from depyf.report.findings.failures import cost_of, is_limit, place
from depyf.report.findings.model import Cost, Finding, Where
from depyf.report.model import Compile, Function, Recompile, Session, UserLine
from depyf.report.refused import Refused, refused

MANY = 3
"""From so many recompiles for one cause on, a function compiles again and again."""

_PLACE = re.compile(r"(?P<file>[^:]*):(?P<line>\d+)")


def of_recompiles(session: Session) -> Iterator[Finding]:
    """Yield a finding for each cause of recompiles of each function."""
    for function in session.functions.values():
        causes: dict[tuple[str, str], list[tuple[Refused, Compile]]] = {}
        for compiled in function.compiles:
            if isinstance(compiled.trigger, Recompile):
                why = nearest(compiled.trigger)
                causes.setdefault((why.source, why.aspect), []).append((why, compiled))
        for found in causes.values():
            yield _finding(function, found)


def nearest(trigger: Recompile) -> Refused:
    """Return the first refusal of the entry that refused for the fewest reasons, the newest of them."""
    told = [each for each in map(refused, reversed(trigger.refusals)) if each]
    return min(told, key=len)[0] if told else Refused("", "", "", "", "", "", "torch does not say why")


def _finding(function: Function, found: list[tuple[Refused, Compile]]) -> Finding:
    compiles = [compiled for _, compiled in found]
    why = found[-1][0]
    limited = [each for each in compiles if each.failure is not None and is_limit(each.failure)]
    kind, severity = "recompile", "high" if limited or len(found) >= MANY else "medium"
    subject = f"{why.aspect} of `{why.source}`" if why.aspect else f"`{why.source}`"
    because = f"{subject} was {why.actual}, expected {why.expected}" if why.expected else why.text
    cause = f"`{function.name}` was compiled again: {because}"
    if limited:
        kind, cause = "recompile-limit", f"`{function.name}` reached the limit of entries, and runs eager: {because}"
    costs = [cost_of(each) for each in compiles]
    cost = Cost(None, round(sum(each.compile_seconds for each in costs), 6), len(costs))
    ids = tuple(str(each.id) for each in compiles)
    return Finding(kind, severity, _where(function, why), cause, cost, advice(why), ids)  # type: ignore[arg-type]


def _where(function: Function, why: Refused) -> Where:
    """Return the line that needs the value, else the first of the function."""
    found = _PLACE.match(why.where)
    line = int(found["line"]) if found is not None and not found["file"] else function.resumes_at or function.first_line
    return place(UserLine(function.filename, line, "", function.name))
