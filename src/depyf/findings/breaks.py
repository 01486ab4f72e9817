"""Findings about graph breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from depyf.findings.by_source import advice_by_source, reports_at
from depyf.findings.callers import at_call_of_library, compiled_lines
from depyf.findings.catalogue import Kind, kind_of_break
from depyf.findings.catalogue.breaks import OPTIMIZER, advised, called_in, error_in, fake_kernel, said_by_torch
from depyf.findings.failures import Place, break_places, cost_of, ends_at, place, unsaid_break
from depyf.findings.merge import joined
from depyf.model.counts import counted
from depyf.model.finding import Finding
from depyf.model.naming import whole_name
from depyf.model.run import Compile, Function, GraphBreak, Session
from depyf.model.syntax import deciding, is_in_try
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_foreign, is_of_torch


def of_breaks(session: Session) -> Iterator[Finding]:
    """Yield a finding for each compile that reached a graph break. A break that ends a compile is worse.

    The breaks inside a library become one finding for each of the user's lines that lead there. If there is a break at
    the line itself, its finding is kept, else the first one. The breaks of `print(x.item())` become one, too.
    """
    ended: dict[Place, Function] = {}
    for function, compiled in session.compiles():
        ended.update(dict.fromkeys(ends_at(compiled), function))
    own_places: dict[Place, int] = {}
    findings: list[Finding] = []
    inside: dict[Place, list[Finding]] = {}
    around: dict[Place, list[Finding]] = {}
    reported: dict[int, list[Finding]] = {}
    places, lines = break_places(session), compiled_lines(session)
    for function, compiled in session.compiles():
        unsaid = unsaid_break(compiled, places)
        for graph_break in (*compiled.breaks, *((unsaid,) if unsaid is not None else ())):
            line = graph_break.where or UserLine(function.filename, function.first_line, "", function.name)
            finding = _finding(function, compiled, graph_break, line, ended.get((line.filename, line.line)))
            user_line = _own_line(compiled, graph_break, line)
            if user_line is None:
                index = own_places.setdefault((line.filename, line.line), len(findings))
                if index < len(findings) and reports_at(function, line):
                    reported.setdefault(index, [findings[index]]).append(finding)
                else:
                    findings.append(finding)
                continue
            is_inside = (user_line.filename, user_line.line) in lines
            fix = finding.fix if finding.kind == OPTIMIZER.name else at_call_of_library(finding, graph_break, is_inside)
            finding = replace(finding, where=place(user_line), cause=f"{finding.cause}, in {finding.where}", fix=fix)
            (inside if is_inside else around).setdefault((user_line.filename, user_line.line), []).append(finding)
    for index, breaks in reported.items():
        findings[index] = _as_one(breaks, is_report=True)
    _put_inside(around, inside)
    for at, breaks in inside.items():
        if at in own_places:
            findings[own_places[at]] = joined(findings[own_places[at]], _as_one(breaks))
        else:
            findings.append(_as_one(breaks))
    yield from findings


def _put_inside(around: dict[Place, list[Finding]], inside: dict[Place, list[Finding]]) -> None:
    """Move breaks from the call of a compiled function to the line in it that leads to the same place of a library.

    torch's stack of a break has no line of the function that it compiles, if the break is in a function below.
    """
    lines = {finding.cause: at for at, breaks in reversed(inside.items()) for finding in breaks}
    for at, breaks in around.items():
        for finding in breaks:
            known = lines.get(finding.cause)
            if known is None:
                inside.setdefault(at, []).append(finding)
            else:
                first = next(same for same in inside[known] if same.cause == finding.cause)
                inside[known].append(replace(finding, where=first.where, fix=first.fix))


def _finding(
    function: Function, compiled: Compile, graph_break: GraphBreak, line: UserLine, rest: Function | None
) -> Finding:
    kind = kind_of_break(graph_break, ends_in_try=rest is not None and _is_in_try(rest, line))
    cause = kind.cause.format(
        text=said_by_torch(graph_break), called=called_in(graph_break), error=error_in(graph_break)
    )
    fix = fake_kernel(f"{graph_break.explanation}\n{graph_break.text}") or kind.fix or advised(graph_break.hints)
    fix = _without_switch(advice_by_source(kind.name, function, line) or fix, graph_break)
    fix = f"{fix}{_or_switch(fix, kind, graph_break, function)}"
    ids = (str(compiled.id),)
    if kind is OPTIMIZER and (is_of_torch(function.filename) or compiled.op_count == 0):
        # The step was compiled alone, so it is one graph.
        return Finding(kind.name, "low", place(line), cause, cost_of(compiled), "", ids)
    if rest is None:
        return Finding(kind.name, "medium", place(line), cause, cost_of(compiled), fix, ids)
    eager = rest.eager_calls if function is rest or compiled.failure is not None else None
    cause = f"{cause}, and {_in_place_of(rest, is_told=graph_break in compiled.breaks)}"
    return Finding(kind.name, "high", place(line), cause, cost_of(compiled, eager), fix, ids)


def _without_switch(fix: str, graph_break: GraphBreak) -> str:
    """Return a fix without torch's switch for numbers where torch does not keep the numbers of such a tensor.

    `.tolist()` of a tensor of floats ends the graph with `capture_scalar_outputs`, too.
    """
    if _NO_INTEGER not in f"{graph_break.explanation} {graph_break.text}":
        return fix
    return "; or".join(part for part in fix.split("; or") if _SWITCH not in part)


def _or_switch(fix: str, kind: Kind, graph_break: GraphBreak, function: Function) -> str:
    """Return torch's switch as a second fix, where torch offers it and no branch depends on the number.

    count = lengths.max().item()
    return x * count
    """
    assigned = _ASSIGNS.match(graph_break.where.text) if graph_break.where is not None else None
    is_offered = kind.name == "break-item" and fix == kind.fix and any(_SWITCH in hint for hint in graph_break.hints)
    if not is_offered or assigned is None or assigned["name"] in deciding(function.source):
        return ""
    return f"; or set `torch._dynamo.config.{_SWITCH} = True`"


_ASSIGNS = re.compile(r"(?P<name>\w+) = ")
_NO_INTEGER = "non-integer tensor"
_SWITCH = "capture_scalar_outputs"
_IN_LOOP = re.compile(r"graph break in (a for/while )?loop")


def _in_place_of(function: Function, *, is_told: bool) -> str:
    """Return what happens instead of a compile that was given up for a graph break.

    torch has a separate record of the break only if the program continues.
    """
    name = whole_name(function)
    failures = [compiled.failure for compiled in function.compiles if compiled.failure is not None]
    if any(failure.raised for failure in failures):
        demand = f"with {failures[-1].demanded_by} " if failures[-1].demanded_by else ""
        return f"`{name}` fails: {demand}its call raises {failures[-1].kind}"
    is_eager = is_told or all(failure.raised is False for failure in failures)
    part = "the rest" if function.is_resume else "all"
    why = ", because the break is in a loop" if any(_IN_LOOP.search(failure.reason) for failure in failures) else ""
    return f"{part} of `{name}` {'runs eager' if is_eager else 'is not compiled'}{why}"


def _is_in_try(function: Function, line: UserLine) -> bool:
    inside = line.filename == function.filename and line.line >= function.first_line
    return inside and is_in_try(function.source, line.line - function.first_line + 1)


def _own_line(compiled: Compile, graph_break: GraphBreak, line: UserLine) -> UserLine | None:
    """Return the user's line that led to a break inside a library, or None for a break at the user's own line."""
    if not is_foreign(line.filename):
        return None
    stack = (*compiled.user_stack, *graph_break.stack)
    return next((frame for frame in reversed(stack) if not is_foreign(frame.filename)), None)


def _as_one(breaks: list[Finding], *, is_report: bool = False) -> Finding:
    """Return the first of some findings, with the cost of all.

    Args:
        breaks: the findings about one line.
        is_report: whether the line is a call such as `print(x.item())`, which breaks the graph after its argument does.
    """
    first, others = breaks[0], {finding.cause for finding in breaks} - {breaks[0].cause}
    whole = first
    for finding in breaks[1:]:
        whole = joined(whole, finding)
    worst = "high" if any(finding.severity == "high" for finding in breaks) else first.severity
    more = f", and {counted(len(others), 'more graph break')} inside of that call" if others else ""
    if is_report:
        more = "".join(f", and {cause.removeprefix('Graph break: ')}" for cause in sorted(others))
    return replace(whole, severity=worst, cause=f"{first.cause}{more}")
