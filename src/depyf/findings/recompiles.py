"""Findings about recompiles: each event is one finding, with all that differed at once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from depyf.findings.as_tensors import BEFORE, with_use
from depyf.findings.callers import compiled_lines, is_at_own_line
from depyf.findings.catalogue.classify import STACK, place_of
from depyf.findings.catalogue.kind import Change, Kind, Place
from depyf.findings.catalogue.others import LIMIT
from depyf.findings.catalogue.recompiles import (
    COUNTER,
    COUNTER_IN_CONDITION,
    FILLED,
    GROWTH,
    INSIDE,
    LIMIT_OF_MODULES,
    LIMIT_OF_OBJECTS,
    MISSING,
    OF_EACH_OBJECT,
    SET_IN_CALL,
    STATES,
    SYMBOLIC,
    SYMBOLIC_INTEGERS,
)
from depyf.findings.causes import Cause
from depyf.findings.events import Event, events, limited
from depyf.findings.expected import FOUND, MANY, expectation, has_other_parts, is_of_another_module
from depyf.findings.failures import cost_of, place
from depyf.findings.items import with_other_items
from depyf.findings.nearest import nearest_entry
from depyf.findings.reasons import UNTOLD, Reason, reason_of
from depyf.findings.sizes import always_padded
from depyf.findings.symbols import with_all_values
from depyf.model.counts import counted
from depyf.model.finding import Cost, Difference, Finding, Severity, Where
from depyf.model.guard_failure import Check, GuardFailure, is_of_call
from depyf.model.naming import title
from depyf.model.reading_lines import reading_line
from depyf.model.run import Compile, Function, GuardSet, Session, Transformed, Unavailable
from depyf.model.spelling import root_name
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_foreign, is_library_file, is_of_torch, short_path

MOST_TOGETHER = 3
"""The most differences that the sentence of a finding names beside its cause; the others are in its data."""

LONGEST_TEXT = 60
"""The longest line of source that a sentence quotes, in characters."""
EACH_LENGTH = "each length needs an entry of its own"
"""For a list whose items cannot be stacked in one tensor."""
_MARK = "mark_dynamic("
_DYNAMIC = "`dynamic=True`"
_RESPECTS = (Check.REQUIRES_GRAD, Check.DTYPE, Check.DEVICE, Check.STRIDE, Check.RANK)
_AS_TENSOR = "make `"
_ENVIRONMENT = "os.environ["
_COUNTED = (COUNTER.name, COUNTER_IN_CONDITION.name, GROWTH.name)
_NO_NAME = re.compile(r"\[[^\]]*:|\(")
"""The parts of an expression that gives another tensor each time, such as a slice, on which a mark has no effect."""
_SIZE = re.compile(r"\bsize=(?P<size>\([^)]*\))")
_SET_TO = re.compile(r"currently set to (?P<limit>\d+)")


def of_recompiles(session: Session) -> Iterator[Finding]:
    """Yield a finding for each event of the recompiles of a run."""
    all_events = events(session)
    explained: set[str] = set()
    for event in all_events:
        functions = _functions(event)
        reached = [
            compiled
            for function in functions
            if _is_worst(event, function, all_events)
            for compiled in limited(function)
        ]
        explained.update(function.key for function in functions)
        yield _finding(session, event, reached, all_events)
    for function in session.functions.values():
        if function.key not in explained and (reached := limited(function)):
            yield _unexplained(function, reached)


def _functions(event: Event) -> list[Function]:
    """Return the functions with recompiles of an event; the one with its cause comes first."""
    cause = event.cause
    functions = {cause.function.key: cause.function}
    functions.update((part.function.key, part.function) for part in cause.below)
    functions.update((function.key, function) for function, _ in event.compiles)
    return list(functions.values())


def _is_worst(event: Event, function: Function, all_events: Sequence[Event]) -> bool:
    """Return whether this event filled most entries of a function.

    A size with two values needs two entries, but a string that is new in each call needs ever more. If both change,
    recompiles for the size are as many as those for the string, but with the size fixed the string needs as many.
    """
    theirs = [other for other in all_events if any(function is part for part, _ in other.compiles)]
    worst = max(theirs, key=lambda other: (other.alone, len(other.compiles)), default=None)
    return worst is event


def _finding(session: Session, event: Event, reached: list[Compile], all_events: Sequence[Event]) -> Finding:
    cause = with_all_values(event.cause)
    orders = {compiled.order for _, compiled in event.compiles}
    pairs = [pair for pair in zip(cause.compiles, cause.failures, strict=True) if pair[0].order in orders]
    compiled, failure = pairs[-1] if pairs else (cause.compiles[-1], cause.failures[-1])
    reason = _reason(session, cause, compiled, failure)
    costly = [*(compiled for _, compiled in event.compiles), *reached]
    differences = tuple(_differences(session, event, compiled))
    also = tuple(difference for _, difference in differences)
    at_once = _at_once(differences, len(event.compiles), reason.sentence) + _carried(session, cause, compiled)
    if not expectation(event):
        at_once += _writer(session, event)
    below = _below(event)
    subject = f"`{title(cause.function)}` was compiled again{f', and with it {below}' if below else ''}"
    finding = Finding(
        reason.kind.name,
        _severity(session, event),
        _where(session, cause, compiled, reason),
        f"{subject}: {_sentence(event, reason)}{at_once}{_expected(event)}",
        _cost(costly),
        _fix(event, reason, [other for other, _ in differences]),
        tuple(str(compiled.id) for compiled in costly),
        also,
    )
    return _limit(event, reached, reason.cause + at_once, finding, all_events) if reached else finding


def _writer(session: Session, event: Event) -> str:
    """Return the line that changes the value between calls, for the end of a sentence, or ""."""
    from depyf.findings.writers import writing_line

    line = writing_line(session, event.cause)
    if line is None:
        return ""
    text = f" (`{line.text}`)" if len(line.text) <= LONGEST_TEXT else ""
    return f"; `{event.cause.failures[0].subject}` is assigned at {short_path(line.filename)}:{line.line}{text}"


def _sentence(event: Event, reason: Reason) -> str:
    """Return the sentence of a reason. Its note is about recompiles that go on."""
    return reason.sentence if expectation(event) else reason.cause


def _reason(session: Session, cause: Cause, compiled: Compile, failure: GuardFailure) -> Reason:
    root = session.functions[cause.function.root]
    reason = reason_of(root, cause.function, compiled, failure, cause.kind, cause.step)
    calls = [line for line in compiled.user_stack if not is_of_torch(line.filename)]
    if _MARK in reason.fix and calls and (calls[-1].filename, calls[-1].line) in compiled_lines(session):
        # torch raises an exception where compiled code marks a tensor.
        return replace(reason, kind=INSIDE, fix=INSIDE.fix)
    if _MARK in reason.fix and _NO_NAME.search(reason.failure.subject):
        named = f"assign `{reason.failure.subject}` to a variable before the call"
        return replace(reason, fix=f"{named}, and mark its dimension there with `torch._dynamo.mark_dynamic`")
    reason = with_other_items(cause, replace(reason, fix=_fix_of_owner(cause, reason)))
    reason = with_use(cause, root, reason)
    if reason.kind.name == SYMBOLIC.name and not reason.fix:
        return replace(reason, fix=always_padded(root.source))
    if reason.kind.change is Change.LENGTH and not reason.fix and not reason.note:
        return replace(reason, note=EACH_LENGTH)
    reason = replace(reason, fix=f"{reason.fix}{_or_switch(cause, reason)}")
    return replace(reason, fix=_fitted(cause, reason, root))


def _fitted(cause: Cause, reason: Reason, root: Function) -> str:
    from depyf.findings.fitting import fitted

    return fitted(cause, reason, root)


def _or_switch(cause: Cause, reason: Reason) -> str:
    """Return torch's switch as a second fix, for an integer of a module that no branch depends on."""
    is_counter = reason.kind.name == COUNTER.name and place_of(cause.failures[0], cause.function.parameters)
    is_of_module = reason.kind.change is Change.INT and reason.kind.place is Place.MODULE
    is_integer = type(cause.failures[0].expected_value) is int and not reason.fix.startswith(BEFORE)
    return SYMBOLIC_INTEGERS if is_integer and (is_of_module or is_counter is Place.MODULE) else ""


def _fix_of_owner(cause: Cause, reason: Reason) -> str:
    """Return the fix of a reason, or that for a value which library code changes or needs."""
    if reason.failure.subject.startswith(_ENVIRONMENT):
        return f"read `{reason.failure.subject}` before the call, and pass what depends on it as a tensor argument"
    files = {line.filename for line in cause.changed_at}
    is_counted = reason.kind.name in _COUNTED
    if is_counted and files and all(map(is_foreign, files)):
        places = " and ".join(sorted(map(short_path, files)))
        subject = reason.failure.subject
        return f"call the library code that changes `{subject}` ({places}) outside of the compiled function"
    is_global = "G[" in cause.failures[0].source
    if reason.kind.name == FILLED.name and is_global and files and all(map(is_foreign, files)):
        return ""
    if reason.kind.change is Change.LENGTH and reason.fix and not _may_hold_tensors(cause):
        return ""
    line = reason.failure.line
    is_needed = line is not None and line.filename != cause.function.filename and is_foreign(line.filename)
    # A library may need a number where a tensor does not serve.
    return "" if is_needed and reason.fix.startswith(_AS_TENSOR) else reason.fix


def _may_hold_tensors(cause: Cause) -> bool:
    """Return whether items of a container may be tensors: an entry has guards for tensors there, or for no item."""
    holder = f"{cause.failures[0].source}["
    sets = (compiled.guards for compiled in cause.compiles if isinstance(compiled.guards, GuardSet))
    items = [guard for guards in sets for guard in guards.guards if guard.source.startswith(holder)]
    tensors = [guard.clause for guard in items if guard.kind == "TENSOR_MATCH"]
    # Only tensors of one size can be stacked.
    sizes = {found["size"] for clause in tensors if (found := _SIZE.search(clause)) is not None}
    return not items or (bool(tensors) and len(sizes) < 2)


def _where(session: Session, cause: Cause, compiled: Compile, reason: Reason) -> Where:
    is_at_call = reason.call is not None and not is_at_own_line(compiled, reason.failure)
    if is_at_call and reason.call is not None:
        return place(reason.call.line)
    return where_of(session, cause, compiled, reason.failure)


def _differences(session: Session, event: Event, shown: Compile) -> Iterator[tuple[Reason, Difference]]:
    """Yield what else differed in the calls of an event, each as a reason and as data.

    Of several recompiles, the one of which the sentence of the event gives the values comes first.
    """
    orders = {compiled.order for _, compiled in event.compiles}
    for cause, count in event.together:
        pairs = list(zip(cause.compiles, cause.failures, strict=True))
        compiled, failure = min(pairs, key=lambda pair: (pair[0] is not shown, pair[0].order not in orders))
        reason = _reason(session, cause, compiled, failure)
        where = _where(session, cause, compiled, reason)
        yield reason, Difference(reason.kind.name, where, reason.cause, reason.fix, count)


def _at_once(differences: Sequence[tuple[Reason, Difference]], total: int, main: str) -> str:
    """Return the differences of the same calls, for the end of a sentence; each once, and none that `main` says."""
    by_words = {reason.sentence: difference for reason, difference in reversed(differences) if reason.sentence != main}
    shown = list(reversed(by_words.items()))[:MOST_TOGETHER]
    if not shown:
        return ""
    words = ", ".join(sentence for sentence, _ in shown)
    more = f" and {len(by_words) - MOST_TOGETHER} more" if len(by_words) > MOST_TOGETHER else ""
    always = all(difference.count == total for _, difference in shown)
    return f"; in {'the same calls' if always else 'some of these calls'} also {words}{more}"


def _carried(session: Session, cause: Cause, compiled: Compile) -> str:
    """Return the number that a graph break left on the stack and that differed too, for the end of a sentence."""
    entry = nearest_entry(cause.function, compiled)
    carried = [failure for failure in entry.reasons if failure.subject.startswith(STACK)] if entry is not None else []
    numbers = [failure for failure in carried if type(failure.actual_value) in (int, float)]
    root = session.functions[cause.function.root]
    words = [reason_of(root, cause.function, compiled, failure).sentence for failure in numbers[:1]]
    return f"; in this call also {words[0]}" if words else ""


def _fix(event: Event, reason: Reason, others: Sequence[Reason]) -> str:
    """Return the fix of an event, with what it does not avoid. Two modules differ as they should."""
    count = len(event.compiles)
    expected = expectation(event)
    if expected == FOUND and reason.kind.name not in (SET_IN_CALL.name, MISSING.name):
        return ""
    if is_of_another_module(event):
        many = LIMIT_OF_MODULES if has_other_parts(event) else reason.fix
        return "" if expected else many
    if not reason.fix or event.avoided >= count or not others:
        return reason.fix
    subject_of_fix, is_dynamic = reason.failure.subject, _DYNAMIC in reason.fix
    sizes = (Check.SIZE, Check.DIMENSION)
    others = [other for other in others if not is_dynamic or other.failure.check not in sizes]
    if not others:
        return reason.fix
    names = list(dict.fromkeys(_told(other.failure, other.kind, subject_of_fix) for other in others))
    more = len(names) - MOST_TOGETHER
    what = ", ".join(names[:MOST_TOGETHER]) + (f" and {more} more" if more > 0 else "")
    verb = "remains" if len(names) == 1 else "remain"
    if is_dynamic:
        return f"{reason.fix}; {what} {verb}"
    if event.avoided == 0:
        return _all_parts(reason, others)
    words = f"{reason.fix}; alone, this avoids {event.avoided} of {counted(count, 'recompile')}, because {what} {verb}"
    return words


def _all_parts(reason: Reason, others: Sequence[Reason]) -> str:
    """Return the fixes of all that differed where no single one avoids anything, or "" if one of them has no fix."""
    fixes = list(dict.fromkeys((reason.fix, *(other.fix for other in others))))
    if not all(fixes) or len(fixes) > MOST_TOGETHER:
        return ""
    first, *rest = fixes
    return f"{first}. Also {'. Also '.join(rest)}" if rest else first


def _below(event: Event) -> str:
    """Return the functions that were also recompiled because this one calls them with the changed value."""
    others = (function for function, _ in event.compiles if function is not event.cause.function)
    names = list(dict.fromkeys(f"`{title(function)}`" for function in others))
    if not names:
        return ""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _limit(
    event: Event, reached: list[Compile], because: str, finding: Finding, all_events: Sequence[Event]
) -> Finding:
    """Return a finding, changed for functions that have reached their limit of entries."""
    orders = {compiled.order for compiled in reached}
    functions = [
        function for function in _functions(event) if any(compiled.order in orders for compiled in function.compiles)
    ]
    calls, limit = _calls_past(functions[0]), _limit_of(functions[0])
    sentence = LIMIT.cause.format(calls=calls, limit=limit, because=f" because {because}")
    others = [part for part in functions[1:] if part is not functions[0]]
    below = ", ".join(dict.fromkeys(f"`{title(function)}`" for function in others))
    shares = _shares(functions[0], event, all_events)
    eager = [function.eager_calls for function in functions if function.eager_calls is not None]
    return replace(
        finding,
        kind=LIMIT.name,
        severity="high",
        cause=sentence + shares + (f"; compiled again with it: {below}" if below else ""),
        cost=replace(finding.cost, eager_calls=sum(eager) if eager else None),
        fix=LIMIT.fix.format(advice=_within_limit(event, finding.fix)),
    )


def _within_limit(event: Event, fix: str) -> str:
    """Return a fix; for an attribute that each object has for itself, a limit that fits all objects is another one."""
    if event.cause.kind.name != OF_EACH_OBJECT.name:
        return fix
    return f"{fix}; or {LIMIT_OF_OBJECTS}" if fix else LIMIT_OF_OBJECTS


def _shares(function: Function, event: Event, all_events: Sequence[Event]) -> str:
    """Return how many entries each cause needs by itself, the most first, if several filled the entries."""
    theirs = [other for other in all_events if any(function is part for part, _ in other.compiles)]
    if len(theirs) < 2:
        return ""
    words = [f"{_name(other)} {other.alone}" for other in sorted(theirs, key=lambda other: -other.alone)]
    return f"; recompiles for each cause alone: {', '.join(words)}"


def _name(event: Event) -> str:
    """Return a short name for what differs in an event."""
    first = _told(event.cause.failures[0], event.cause.kind)
    if not first.startswith("`") or event.cause.failures[0].check is Check.STATE:
        return first
    others = sorted(event.together, key=lambda pair: -pair[1])
    names = [first, *(f"`{cause.failures[0].subject}`" for cause, _ in others if not cause.kind.is_expected)]
    first, *rest = dict.fromkeys(names[:MOST_TOGETHER])
    return f"{first} with {', '.join(rest)}" if rest else first


def _told(failure: GuardFailure, kind: Kind, besides: str = "") -> str:
    """Return a short name for what differs: the value, or a word for a state of the call.

    Beside the event's `besides` value, the name has the respect of a tensor, such as `requires_grad`, but not its size.
    """
    if besides and failure.check in _RESPECTS:
        article = "" if failure.check is Check.REQUIRES_GRAD else "the "
        return f"{article}{failure.check.value} of `{failure.subject}`"
    if failure.check is Check.STATE:
        return {"grad_mode": "gradients on and off"}.get(failure.source, f"`{failure.source}`")
    return "training and evaluation" if kind.name == STATES["training"].name else f"`{failure.subject}`"


def _severity(session: Session, event: Event) -> Severity:
    if expectation(event):
        return "low"
    from depyf.findings.fitting import has_few_entries

    is_bounded = has_few_entries(event.cause, session.functions[event.cause.function.root])
    return "high" if len(event.compiles) >= MANY and not (is_bounded or _has_settled(event)) else "medium"


def _has_settled(event: Event) -> bool:
    """Return whether the last entry of an event served many calls, so that its values change no more."""
    function = event.cause.function
    last = function.compiles[-1]
    is_last = any(compiled is last for _, compiled in event.compiles)
    return is_last and last.failure is None and last.hits is not None and last.hits >= MANY


def _expected(event: Event) -> str:
    words = expectation(event)
    return f"; expected: {words}" if words else ""


def _unexplained(function: Function, reached: list[Compile]) -> Finding:
    where = place(UserLine(function.filename, function.first_line, "", function.name))
    cause = LIMIT.cause.format(calls=_calls_past(function), limit=_limit_of(function), because=f"; {UNTOLD}")
    ids = tuple(str(compiled.id) for compiled in reached)
    return Finding(LIMIT.name, "high", where, cause, _cost(reached), "", ids)


def _calls_past(function: Function) -> str:
    """Return a sentence about the calls past the limit, with the number of eager calls if it is known."""
    failures = [compiled.failure for compiled in limited(function) if compiled.failure is not None]
    if failures[-1].raised:
        return f"{counted(len(failures), 'call')} of `{title(function)}` raised {failures[-1].kind}"
    return f"{_eager_calls(function)} of `{title(function)}` ran eager"


def _limit_of(function: Function) -> str:
    """Return the limit of entries: the number that torch names, or the number of entries."""
    first = limited(function)[0]
    named = _SET_TO.search(first.failure.reason) if first.failure is not None else None
    before = [compiled for compiled in function.compiles if compiled.order < first.order]
    with_code = sum(isinstance(compiled.transformed, Transformed) for compiled in before)
    count = int(named["limit"]) if named is not None else with_code
    return counted(count, "entry", "entries") if count else "entries"


def _eager_calls(function: Function) -> str:
    """Return how many of a function's calls ran eagerly, as far as they are counted."""
    if function.eager_calls is None:
        return "Later calls"
    hits = [compiled.hits for compiled in function.compiles if not isinstance(compiled.transformed, Unavailable)]
    served = [count for count in hits if count is not None]
    if len(served) < len(hits):
        return counted(function.eager_calls, "call")
    return f"{function.eager_calls} of {counted(function.eager_calls + sum(served), 'call')}"


def _cost(compiles: list[Compile]) -> Cost:
    costs = [cost_of(compiled) for compiled in compiles]
    return Cost(None, round(sum(cost.compile_seconds for cost in costs), 6), len(costs))


def where_of(session: Session, cause: Cause, compiled: Compile, failure: GuardFailure) -> Where:
    """Return the line that needs a value, else the call, else the first line of the function.

    If torch names a line of a library in this recompile, the line of another recompile for the value counts.

    Args:
        session: the run, with the files of the user's lines.
        cause: the cause, with the guard failures of all its recompiles.
        compiled: the recompile that the finding shows.
        failure: the guard that failed in it.
    """
    function = cause.function
    checks = (part for part in (cause, *cause.below) if part.function is function)
    for line in (failure.line, *(seen.line for part in checks for seen in part.failures)):
        file = _file_of(session, function, line) if line is not None else ""
        if line is not None and file:
            return place(UserLine(file, line.line, "", function.name))
    reading = _handing_line(session.functions[function.root], function, failure)
    if reading is not None:
        return place(UserLine(function.filename, reading, "", function.name))
    callers = [line for line in compiled.user_stack if not is_foreign(line.filename)]
    if function.resumes_at is None and callers:
        return place(callers[-1])
    return place(UserLine(function.filename, function.resumes_at or function.first_line, "", function.name))


def _handing_line(root: Function, function: Function, failure: GuardFailure) -> int | None:
    """Return the line of the user's function that hands a value on to the library that needs it, or None.

    `return self.heads[task](x)` needs `task` in torch's `ModuleDict`, and `optimizer.step()` a part of `optimizer`.
    """
    if is_foreign(function.filename) or is_of_call(failure):
        return None
    first = function.resumes_at or root.first_line
    subjects = [failure.subject] if failure.line is not None else []
    name = root_name(failure.source)
    if name != "self" and (function.is_resume or failure.source.startswith("G[")):
        subjects.append(name)
    lines = (reading_line(subject, root.source, first - root.first_line) for subject in subjects)
    line = next((line for line in lines if line is not None), None)
    return None if line is None else root.first_line + line


def _file_of(session: Session, function: Function, line: UserLine) -> str:
    """Return the file of a line, or "" if the file belongs to a library. Traces and older indexes have names alone."""
    if line.filename in ("", function.filename):
        return function.filename
    named = [file for file in session.sources if os.path.basename(file) == os.path.basename(line.filename)]
    files = [line.filename] if line.filename in session.sources else named
    return next((file for file in files if not is_library_file(file)), "")
