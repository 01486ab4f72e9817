"""Findings about recompiles, by the guard failures of the nearest entry, and about functions that reached the limit."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace

from depyf.findings.callers import is_at_own_line, is_foreign
from depyf.findings.catalogue.others import LIMIT
from depyf.findings.causes import Cause, causes
from depyf.findings.failures import cost_of, is_limit, place
from depyf.findings.reasons import UNTOLD, reason_of
from depyf.model.counts import counted
from depyf.model.finding import Cost, Finding, Severity, Where
from depyf.model.guard_failure import GuardFailure
from depyf.model.naming import title
from depyf.model.run import Compile, Function, Session, Transformed, Unavailable
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_library_file

MANY = 3
"""With this many recompiles for one cause, a function counts as recompiling again and again."""

_SET_TO = re.compile(r"currently set to (?P<limit>\d+)")


def of_recompiles(session: Session) -> Iterator[Finding]:
    """Yield a finding for each cause of recompiles. A cause that shows in several functions is one finding."""
    found = causes(session)
    told: set[str] = set()
    for cause in found:
        functions = [each.function for each in (cause, *cause.below)]
        limited = [
            each for function in functions if _is_worst(cause, function, found) for each in _past_limit(function)
        ]
        told.update(each.function.key for each in (cause, *cause.below))
        yield _finding(session, cause, limited)
    for function in session.functions.values():
        if function.key not in told and (limited := _past_limit(function)):
            yield _unexplained(function, limited)


def _past_limit(function: Function) -> list[Compile]:
    return [each for each in function.compiles if each.failure is not None and is_limit(each.failure)]


def _is_worst(cause: Cause, function: Function, found: list[Cause]) -> bool:
    """Return whether this cause made a function reach its limit, by the number of its recompiles times that of values.

    A size with two values needs two entries, but a string that is new in each call needs ever more. If both change,
    recompiles for the size are as many as those for the string.
    """
    counts = {
        id(outermost): max((each.variety * len(each.compiles), len(each.compiles), each.is_first) for each in own)
        for outermost in reversed(found)
        if (own := [each for each in (outermost, *outermost.below) if each.function is function])
    }
    worst = max(reversed(counts), key=lambda each: counts[each])
    return worst == id(cause)


def _finding(session: Session, cause: Cause, limited: list[Compile]) -> Finding:
    last, compiles = cause.failures[-1], {one.order: one for each in (cause, *cause.below) for one in each.compiles}
    costly = [*compiles.values(), *limited]
    why = reason_of(_root(session, cause), cause.function, cause.compiles[-1], last, cause.kind, cause.step)
    ids, cost = tuple(str(each.id) for each in costly), _cost(costly)
    is_at_call = why.call is not None and not is_at_own_line(cause.compiles[-1], last)
    where = place(why.call.line) if is_at_call and why.call is not None else where_of(session, cause, why.failure)
    below = _below(cause)
    said = f"`{title(cause.function)}` was compiled again{f', and with it {below}' if below else ''}: {why.cause}"
    found = Finding(why.kind.name, _severity(cause), where, said, cost, why.fix, ids)
    return _limit(cause, limited, why.cause, found) if limited else found


def _root(session: Session, cause: Cause) -> Function:
    return session.functions[cause.function.root]


def _below(cause: Cause) -> str:
    """Return the functions that were also recompiled because this one calls them with the changed value."""
    others = (each.function for each in cause.below if each.function is not cause.function)
    names = list(dict.fromkeys(f"`{title(each)}`" for each in others))
    if not names:
        return ""
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return shown


def _limit(cause: Cause, limited: list[Compile], because: str, found: Finding) -> Finding:
    """Return a finding, changed for functions that have reached their limit of entries."""
    reached = {each.order for each in limited}
    functions = [
        each.function for each in (cause, *cause.below) if any(one.order in reached for one in each.function.compiles)
    ]
    below = _below(cause)
    calls, limit = _calls_past(functions[0]), _limit_of(functions[0])
    said = LIMIT.cause.format(calls=calls, limit=limit, because=f" because {because}")
    eager = [each.eager_calls for each in functions if each.eager_calls is not None]
    return replace(
        found,
        kind=LIMIT.name,
        severity="high",
        cause=f"{said}; compiled again with it: {below}" if below else said,
        cost=replace(found.cost, eager_calls=sum(eager) if eager else None),
        fix=LIMIT.fix.format(advice=found.fix),
    )


def _severity(cause: Cause) -> Severity:
    if cause.kind.is_expected and len(cause.compiles) == 1:
        return "low"
    return "high" if len(cause.compiles) >= MANY else "medium"


def _unexplained(function: Function, limited: list[Compile]) -> Finding:
    where = place(UserLine(function.filename, function.first_line, "", function.name))
    cause = LIMIT.cause.format(calls=_calls_past(function), limit=_limit_of(function), because=f"; {UNTOLD}")
    return Finding(LIMIT.name, "high", where, cause, _cost(limited), "", tuple(str(each.id) for each in limited))


def _calls_past(function: Function) -> str:
    """Return a sentence about the calls past the limit, with the number of eager calls if it is known."""
    failures = [each.failure for each in _past_limit(function) if each.failure is not None]
    if failures[-1].raised:
        return f"{counted(len(failures), 'call')} of `{title(function)}` raised {failures[-1].kind}"
    return f"{_eager_calls(function)} of `{title(function)}` ran eager"


def _limit_of(function: Function) -> str:
    """Return the limit of entries: the number that torch names, or the number of entries."""
    first = _past_limit(function)[0]
    named = _SET_TO.search(first.failure.reason) if first.failure is not None else None
    before = [each for each in function.compiles if each.order < first.order]
    made = sum(isinstance(each.transformed, Transformed) for each in before)
    count = int(named["limit"]) if named is not None else made
    return counted(count, "entry", "entries") if count else "entries"


def _eager_calls(function: Function) -> str:
    """Return how many of a function's calls ran eagerly, as far as they are counted."""
    if function.eager_calls is None:
        return "Later calls"
    hits = [each.hits for each in function.compiles if not isinstance(each.transformed, Unavailable)]
    served = [each for each in hits if each is not None]
    if len(served) < len(hits):
        return counted(function.eager_calls, "call")
    return f"{function.eager_calls} of {counted(function.eager_calls + sum(served), 'call')}"


def _cost(compiles: list[Compile]) -> Cost:
    costs = [cost_of(each) for each in compiles]
    return Cost(None, round(sum(each.compile_seconds for each in costs), 6), len(costs))


def where_of(session: Session, cause: Cause, failure: GuardFailure) -> Where:
    """Return the line that needs a value, else the call, else the first line of the function."""
    function, line = cause.function, failure.line
    file = _file_of(session, function, line) if line is not None else ""
    if line is not None and file:
        return place(UserLine(file, line.line, "", function.name))
    own = [each for each in cause.compiles[0].user_stack if not is_foreign(each.filename)]
    if function.resumes_at is None and own:
        return place(own[-1])
    return place(UserLine(function.filename, function.resumes_at or function.first_line, "", function.name))


def _file_of(session: Session, function: Function, line: UserLine) -> str:
    """Return the file of a line, or "" if the file belongs to a library. Traces and older indexes have names alone."""
    if line.filename in ("", function.filename):
        return function.filename
    named = [file for file in session.sources if os.path.basename(file) == os.path.basename(line.filename)]
    files = [line.filename] if line.filename in session.sources else named
    return next((file for file in files if not is_library_file(file)), "")
