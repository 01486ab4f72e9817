"""Findings about failed compiles, which come first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from depyf.findings.catalogue import kind_of_break
from depyf.findings.catalogue.breaks import GENERIC, advised, fake_kernel
from depyf.findings.reasons import reasons
from depyf.model.counts import counted
from depyf.model.failure import Failure
from depyf.model.finding import Cost, Finding, Where
from depyf.model.naming import title
from depyf.model.phases import duration
from depyf.model.reproducible import without_addresses
from depyf.model.run import Compile, Function, GraphBreak, Session
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_foreign, short_path

_RAISED = re.compile(r": got (?P<error>\w+)\((?P<quote>['\"])(?P<text>.*?)(?P=quote)\)")
"""The exception that a node raised when torch ran it with fake tensors."""

LIMITS = ("RecompileLimitExceeded", "FailOnRecompileLimitHit", "cache_size_limit", "recompile_limit")
"""torch's names for a compile that did not begin because the function has reached its limit of entries."""


def is_limit(failure: Failure) -> bool:
    """Return whether a compile was given up because the function has reached its limit of entries."""
    return any(name in failure.kind or name in failure.reason for name in LIMITS)


def is_given_up(failure: Failure) -> bool:
    """Return whether a compile was given up for a graph break, of which a finding of its own tells."""
    return failure.kind in UNSUPPORTED and not is_limit(failure)


Place: TypeAlias = tuple[str, int]

UNSUPPORTED = ("Unsupported", "UserError")
"""torch's names for a graph break for which the whole frame is given up."""


def break_places(session: Session) -> frozenset[Place]:
    """Return the lines at which graphs end."""
    wheres = (graph_break.where for _, compiled in session.compiles() for graph_break in compiled.breaks)
    return frozenset((where.filename, where.line) for where in wheres if where is not None)


def ends_at(compiled: Compile) -> set[Place]:
    """Return the lines at which a compile was given up for a graph break."""
    if compiled.failure is None or compiled.failure.kind not in UNSUPPORTED:
        return set()
    lines = [compiled.failure.where, *(graph_break.where for graph_break in compiled.breaks[-1:])]
    return {(line.filename, line.line) for line in lines if line is not None}


def unsaid_break(compiled: Compile, breaks: frozenset[Place]) -> GraphBreak | None:
    """Return the graph break that a compile was given up for, if torch mentions it only in the failure.

    Releases before 2.10 do so for some frames that then run eagerly.
    """
    failure = compiled.failure
    if failure is None or failure.kind not in UNSUPPORTED or is_limit(failure) or ends_at(compiled) & breaks:
        return None
    reason, text = reason_of(failure), failure.reason
    graph_break = GraphBreak(reason, text, tuple(failure.hints), "", failure.where, compiled.user_stack, 0, text)
    return None if kind_of_break(graph_break) is GENERIC else graph_break


def place(line: UserLine) -> Where:
    """Return a line of the user's as the place of a finding."""
    return Where(short_path(line.filename), line.line, line.function)


def cost_of(compiled: Compile, eager_calls: int | None = None) -> Cost:
    """Return the cost of one compile."""
    return Cost(eager_calls, round(duration(compiled.seconds), 6), 1)


def reason_of(failure: Failure) -> str:
    """Return why a compile failed, in one line. The exception of a backend is below torch's own line."""
    lines = [line.strip() for line in failure.reason.strip().splitlines() if line.strip()]
    first = lines[0] if lines else "torch does not say why"
    raised = _RAISED.search(failure.reason)
    if raised is not None and first.endswith("fake tensor call"):
        return f"{raised['error']}: {raised['text']}".rstrip(".")
    if first.startswith("Failed running ") and first.endswith(":") and len(lines) > 1:
        # torch before 2.8 has the call with all its arguments in the first line.
        return lines[1].partition(". ")[0].rstrip(".")
    if first.startswith("Constraints violated") and len(lines) > 1:
        return lines[1].removeprefix("- ").partition(". ")[0]
    return (f"{first} {lines[1]}" if first.endswith("raised:") and len(lines) > 1 else first).rstrip(".")


def caused_by(failure: Failure, reason: str) -> str:
    """Return the causes of a failure, outermost first, without those whose text is in the reason or in another."""
    said, words = reason, ""
    for cause in failure.causes:
        if cause.partition(": ")[2].rstrip(".") not in said or ": " not in cause:
            words += f"; caused by {without_addresses(cause).rstrip('.')}"
            said += words
    return words


def _again(session: Session, function: Function, compiled: Compile) -> str:
    """Return why a function was compiled again, if the compile that failed was not its first."""
    reason = next(iter(reasons(session.functions[function.root], function, compiled)), None)
    return f"; it was compiled again because {reason.sentence}" if reason is not None else ""


def _advice(failure: Failure) -> str:
    """Return the advice for a failed compile: for a marked dimension, an operator without a fake kernel, or a hint."""
    if "maybe_mark_dynamic" in failure.reason:
        return (
            "remove the mark, or use `torch._dynamo.maybe_mark_dynamic`, which gives way; "
            "or do not compare the size with a number here"
        )
    return fake_kernel("\n".join((failure.reason, *failure.causes))) or advised(failure.hints)


def _demand(failure: Failure) -> str:
    """Return what makes an exception of a graph break, if the failure is one."""
    is_break = failure.kind == "Unsupported" and failure.demanded_by
    return f"; with {failure.demanded_by} a graph break is an exception" if is_break else ""


def of_failures(session: Session) -> Iterator[Finding]:
    """Yield a finding for each failed compile."""
    breaks = break_places(session)
    for function, compiled in session.compiles():
        failure = compiled.failure
        if failure is None or is_limit(failure) or ends_at(compiled) & breaks or unsaid_break(compiled, breaks):
            continue
        where = failure.where or UserLine(function.filename, function.first_line, "", function.name)
        if is_foreign(where.filename):
            where = next((caller for caller in reversed(compiled.user_stack) if not is_foreign(caller.filename)), where)
        phase = f" in {failure.phase}" if failure.phase else ""
        reason = without_addresses(reason_of(failure))
        words = f"{failure.kind}: {reason}{caused_by(failure, reason)}{_again(session, function, compiled)}"
        cause = f"The compile of `{title(function)}` failed{phase}: {words}{_demand(failure)}"
        cost = cost_of(compiled, function.eager_calls)
        yield Finding("failure", "high", place(where), cause, cost, _advice(failure), (str(compiled.id),))


def of_call_failures(session: Session) -> Iterator[Finding]:
    """Yield a finding for each exception that the code of a backend raised in calls."""
    for function, compiled in session.compiles():
        for call_failure in compiled.call_failures:
            failure, times = call_failure.failure, counted(call_failure.times, "call")
            where = failure.where or UserLine(function.filename, function.first_line, "", function.name)
            reason = without_addresses(reason_of(failure))
            words = f"{failure.kind}: {reason}{caused_by(failure, reason)}"
            cause = f"{times} of `{title(function)}` failed in {failure.phase}, for compile {compiled.id}, {words}"
            yield Finding("call-failure", "high", place(where), cause, cost_of(compiled), "", (str(compiled.id),))


def of_unfinished(session: Session) -> Iterator[Finding]:
    """Yield a finding for each compile during which the process ended."""
    places = {str(compiled.id): (function, compiled) for function, compiled in session.compiles()}
    for state in session.now:
        if not state.alive and state.id in places:
            function, _ = places[state.id]
            where = place(UserLine(function.filename, function.first_line, "", function.name))
            words = state.words[0].upper() + state.words[1:]
            yield Finding("unfinished", "high", where, words, Cost(None, state.seconds, 1), "", (state.id,))
