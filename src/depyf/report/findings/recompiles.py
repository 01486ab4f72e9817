"""Functions that were compiled again, by what the nearest entry refused; and those that reached the limit."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from depyf.report.catalogue import Kind, kind_of_recompile
from depyf.report.catalogue.others import LIMIT
from depyf.report.catalogue.recompiles import COUNTER, GROWTH, filled
from depyf.report.counts import counted
from depyf.report.findings.failures import cost_of, is_limit, place
from depyf.report.findings.model import Cost, Finding, Severity, Where
from depyf.report.model import Compile, Function, Recompile, Session, Unavailable, UserLine
from depyf.report.nearest import literal, nearest
from depyf.report.refused import Refused
from depyf.report.user_source import is_library_file

MANY = 3
"""From so many recompiles for one cause on, a function compiles again and again."""

STACK = "___stack"
"""How Dynamo calls a value that is handed over a graph break."""

_PLACE = re.compile(r"(?P<file>[^:]*):(?P<line>\d+)")


@dataclass(frozen=True, slots=True)
class Cause:
    """Recompiles of a function for one thing: what the nearest entry refused each time."""

    function: Function
    kind: Kind
    refused: tuple[Refused, ...]
    compiles: tuple[Compile, ...]


def of_recompiles(session: Session) -> Iterator[Finding]:
    """Yield a finding for each cause of recompiles of each function."""
    for function in session.functions.values():
        causes = list(causes_of(function))
        limited = [each for each in function.compiles if each.failure is not None and is_limit(each.failure)]
        worst = max(causes, key=lambda each: len(each.compiles), default=None)
        for cause in causes:
            yield _finding(session, cause, limited if cause is worst else [])
        if limited and worst is None:
            yield _unexplained(function, limited)


def causes_of(function: Function) -> Iterator[Cause]:
    """Yield what a function was compiled again for, in the order in which it came up."""
    found: dict[tuple[str, str], list[tuple[Refused, Compile]]] = {}
    kinds: dict[str, Kind] = {}
    for compiled in function.compiles:
        told = nearest(compiled.trigger) if isinstance(compiled.trigger, Recompile) else None
        if told is None or (compiled.failure is not None and is_limit(compiled.failure)):
            continue
        if told.reasons[0].subject.startswith(STACK):
            continue  # The value is one that a graph break leaves behind, and the break is a finding.
        kind = kind_of_recompile(told.reasons[0], function.parameters, function.source)
        kinds[kind.name] = kind
        found.setdefault((kind.name, told.reasons[0].subject), []).append((told.reasons[0], compiled))
    for (name, _), told_of in found.items():
        refused, compiles = zip(*told_of, strict=True)
        yield Cause(function, _grown(kinds[name], refused), refused, compiles)


def _grown(kind: Kind, refused: tuple[Refused, ...]) -> Kind:
    """Return the kind of growth, where a number or a length rises by one step from call to call."""
    if _step(refused) == 0:
        return kind
    if kind.name.endswith("-int"):
        return COUNTER
    return GROWTH if kind.name.endswith("-length") else kind


def _step(refused: tuple[Refused, ...]) -> int:
    """Return by how much a number rises from each recompile to the next, 0 where it does not do so evenly."""
    values = [literal(each.actual) for each in refused]
    numbers = [literal(refused[0].expected), *values]
    if len(numbers) < 3 or not all(type(each) is int for each in numbers):
        return 0
    steps = {second - first for first, second in zip(numbers, numbers[1:], strict=False)}  # type: ignore[operator]
    return steps.pop() if len(steps) == 1 else 0


def _finding(session: Session, cause: Cause, limited: list[Compile]) -> Finding:
    last = cause.refused[-1]
    step = _step(cause.refused)
    because, advice = filled(cause.kind.cause, last, step), filled(cause.kind.fix, last, step)
    name = cause.function.name
    ids = tuple(str(each.id) for each in (*cause.compiles, *limited))
    cost = _cost([*cause.compiles, *limited])
    where = where_of(session, cause.function, last)
    if limited:
        said = LIMIT.cause.format(calls=_eager_calls(cause.function), function=name, because=because)
        cost = replace(cost, eager_calls=cause.function.eager_calls)
        return Finding(LIMIT.name, "high", where, said, cost, LIMIT.fix.format(advice=advice), ids)
    said = f"`{name}` was compiled again: {because}"
    return Finding(cause.kind.name, _severity(cause), where, said, cost, advice, ids)


def _severity(cause: Cause) -> Severity:
    if cause.kind.is_expected and len(cause.compiles) == 1:
        return "low"
    return "high" if len(cause.compiles) >= MANY else "medium"


def _unexplained(function: Function, limited: list[Compile]) -> Finding:
    where = place(UserLine(function.filename, function.first_line, "", function.name))
    cause = LIMIT.cause.format(
        calls=_eager_calls(function), function=function.name, because="torch does not say why"
    )
    return Finding(LIMIT.name, "high", where, cause, _cost(limited), "", tuple(str(each.id) for each in limited))


def _eager_calls(function: Function) -> str:
    """Return how many of the calls of a function ran eager, as far as they are counted."""
    if function.eager_calls is None:
        return "other calls"
    hits = [each.hits for each in function.compiles if not isinstance(each.transformed, Unavailable)]
    served = [each for each in hits if each is not None]
    if len(served) < len(hits):
        return counted(function.eager_calls, "call")
    return f"{function.eager_calls} of {counted(function.eager_calls + sum(served), 'call')}"


def _cost(compiles: list[Compile]) -> Cost:
    costs = [cost_of(each) for each in compiles]
    return Cost(None, round(sum(each.compile_seconds for each in costs), 6), len(costs))


def where_of(session: Session, function: Function, why: Refused) -> Where:
    """Return the user's line that needs a value, else the first line of the function."""
    found = _PLACE.match(why.where)
    if found is not None:
        files = [function.filename] if not found["file"] else _named(session, found["file"])
        if files:
            return place(UserLine(files[0], int(found["line"]), "", function.name))
    return place(UserLine(function.filename, function.resumes_at or function.first_line, "", function.name))


def _named(session: Session, name: str) -> list[str]:
    """Return the files of the run that have this name, and are no library's."""
    files = [each for each in session.sources if os.path.basename(each) == name]
    return [each for each in files if not is_library_file(each)]
