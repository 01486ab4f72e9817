"""Recompiles that follow from a graph break become a part of the break's finding, because its fix avoids them, too.

    begin = time.perf_counter()       the break: Dynamo does not trace this call
    y = self.layer(x)                 a resume function, compiled again for each value of `begin`
    self.seconds += time.perf_counter() - begin

Without the break nothing checks `begin`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from depyf.findings.catalogue.classify import STACK
from depyf.findings.catalogue.others import LIMIT
from depyf.findings.catalogue.recompiles import RECOMPILES
from depyf.findings.computed import assigned_at, is_computed
from depyf.findings.failures import break_places, cost_of, ends_at, place
from depyf.findings.merge import joined
from depyf.findings.nearest import nearest_entry
from depyf.model.counts import counted
from depyf.model.finding import SEVERITIES, Difference, Finding, Where
from depyf.model.guard_failure import Check, GuardFailure
from depyf.model.naming import title
from depyf.model.run import Compile, Function, Session
from depyf.model.spelling import root_name
from depyf.model.user_line import UserLine

_KINDS = frozenset((*(kind.name for kind in RECOMPILES), LIMIT.name))
_BREAK = "break-"
OFTEN = 2
"""An entry with this many hits serves values that come back, such as the names of the blocks of one model."""


def with_consequences(session: Session, findings: Sequence[Finding]) -> list[Finding]:
    """Return findings, with the recompiles that follow from a graph break in the finding of that break.

    Args:
        session: the run.
        findings: its findings.
    """
    by_id = {str(compiled.id): (function, compiled) for function, compiled in session.compiles()}
    kept = list(findings)
    for finding in findings:
        is_known = all(name in by_id for name in finding.compiles)
        if finding.kind not in _KINDS or finding.severity == "low" or not is_known:
            continue
        pairs = [by_id[name] for name in finding.compiles]
        where, words = _origin(session, pairs) or _of_callee(session, pairs) or (None, "")
        index = next((index for index, other in enumerate(kept) if _is_break_at(other, where)), None)
        if index is not None:
            kept[index] = _with(kept[index], finding, words)
            kept.remove(finding)
    return kept


def with_carried(session: Session, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return findings, with the recompiles for a value that a break leaves on the stack in the finding of the break.

    `x[:, : int(lengths.max())]` breaks, and its rest is compiled again for another number.

    Args:
        session: the run.
        findings: its merged findings.
    """
    kept = list(findings)
    known = {name for finding in findings for name in finding.compiles}
    carried: dict[int, list[Compile]] = {}
    for function, compiled in session.compiles():
        if str(compiled.id) in known or function.break_line is None or compiled.failure is not None:
            continue
        entry = nearest_entry(function, compiled)
        if entry is None or not all(map(_is_carried_number, entry.reasons)):
            continue
        where = place(UserLine(function.filename, function.break_line, "", function.name))
        index = next((index for index, other in enumerate(kept) if _is_break_at(other, where)), None)
        if index is not None:
            carried.setdefault(index, []).append(compiled)
    for index, compiles in carried.items():
        count = counted(len(compiles), "recompile")
        cause = f"{kept[index].cause}; {count} of the rest follow{_s(compiles)} from it, because its result differs"
        ids = (*kept[index].compiles, *(str(compiled.id) for compiled in compiles))
        cost = kept[index].cost
        seconds = cost.compile_seconds + sum(cost_of(compiled).compile_seconds for compiled in compiles)
        cost = replace(cost, compile_seconds=round(seconds, 6), compiles=cost.compiles + len(compiles))
        kept[index] = replace(kept[index], cause=cause, compiles=ids, cost=cost)
    return tuple(kept)


def _is_carried_number(failure: GuardFailure) -> bool:
    """Return whether a number on the stack differs. The size of a tensor there differs because of an argument."""
    return failure.subject.startswith(STACK) and failure.check is Check.VALUE


def _is_break_at(finding: Finding, where: Where | None) -> bool:
    is_there = where is not None and finding.where is not None
    return is_there and finding.kind.startswith((_BREAK, "graph-break")) and _line(finding.where) == _line(where)


def _line(where: Where | None) -> tuple[str, int] | None:
    return None if where is None else (where.file, where.line)


def _with(finding: Finding, consequence: Finding, words: str) -> Finding:
    """Return the finding of a break with a consequence: its cost, the worse severity, and what differed."""
    count = len(consequence.compiles)
    also = Difference(consequence.kind, consequence.where, consequence.cause, "", count)
    worse = min(finding.severity, consequence.severity, key=SEVERITIES.index)
    limit = ", up to the limit" if consequence.kind == LIMIT.name else ""
    cause = f"{finding.cause}; {counted(count, 'recompile')} {words}{limit}"
    return replace(joined(finding, consequence), severity=worse, cause=cause, also=(*finding.also, also))


def _origin(session: Session, pairs: Sequence[tuple[Function, Compile]]) -> tuple[Where, str] | None:
    """Return the break behind which resume functions check values from before it, with words, or None."""
    function, _ = pairs[-1]
    root = session.functions[function.root]
    if not all(other.is_resume and other.root == function.root for other, _ in pairs):
        return None
    failures = [failure for pair in pairs for failure in _failures(*pair)]
    if not failures or not all(is_computed(root, function, failure) for failure in failures):
        return None
    lines = {line for filename, line in break_places(session) if filename == root.filename}
    line = next((line for line in (assigned_at(root, failures[-1]), function.break_line) if line in lines), None)
    if line is None:
        return None
    subjects = list(dict.fromkeys(f"`{root_name(failure.source)}`" for failure in failures))
    verb = "differs" if len(subjects) == 1 else "differ"
    where = place(UserLine(root.filename, line, "", function.name))
    return where, f"of the rest follow{_s(pairs)} from it, because {' and '.join(subjects[:2])} {verb}"


def _s(pairs: Sequence[object]) -> str:
    return "s" if len(pairs) == 1 else ""


def _failures(function: Function, compiled: Compile) -> list[GuardFailure]:
    entry = nearest_entry(function, compiled)
    return [failure for failure in entry.reasons if not failure.subject.startswith(STACK)] if entry is not None else []


def _of_callee(session: Session, pairs: Sequence[tuple[Function, Compile]]) -> tuple[Where, str] | None:
    """Return the break for which a caller runs eager, so that a function is compiled by itself, with words, or None.

    Each entry serves later calls, too, so the values come back: without the break they are constants of one graph.
    """
    function, compiled = pairs[0]
    root = session.functions[function.root]
    if not all(other.root == function.root for other, _ in pairs) or not _is_reused(root):
        return None
    for caller in session.functions.values():
        if caller.root == root.key or not _calls(caller, compiled):
            continue
        for given_up in caller.compiles:
            for filename, line in sorted(ends_at(given_up) & break_places(session)):
                where = place(UserLine(filename, line, "", caller.name))
                return where, f"of `{title(root)}` follow{_s(pairs)} from it, because that is compiled by itself"
    return None


def _is_reused(function: Function) -> bool:
    hits = [compiled.hits for compiled in function.compiles]
    return len(hits) > 1 and all(count is not None and count >= OFTEN for count in hits)


def _calls(caller: Function, compiled: Compile) -> bool:
    """Return whether the stack of a compile passes a function."""
    last = caller.first_line + max(len(caller.source.splitlines()), 1)
    return any(
        line.filename == caller.filename and caller.first_line <= line.line < last for line in compiled.user_stack
    )
