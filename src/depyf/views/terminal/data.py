"""The views of a run as plain data, for the terminal and for `--json`.

`docs/show.schema.json` describes the keys; keys may be added.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from depyf.findings import findings
from depyf.findings.cache_misses.looks import looks
from depyf.findings.causes import kinds
from depyf.findings.reasons import Reason, entry_reasons
from depyf.links.documents import kernel_sources
from depyf.links.inductor.lines import origins_of_lines
from depyf.links.kernel_definitions import KernelDefinition, kernel_definitions
from depyf.links.profile.units import Sources
from depyf.model.compile_times import read_times, times_json
from depyf.model.counts import breaks_of, guard_count
from depyf.model.finding import FINDING_ROWS
from depyf.model.index_reader import Run
from depyf.model.naming import title
from depyf.model.phases import duration, phases
from depyf.model.run import (
    Artefact,
    Compile,
    Dialect,
    FirstCall,
    Function,
    GuardSet,
    NoCall,
    Recompile,
    Resume,
    Transformed,
    Unavailable,
)
from depyf.model.skips import Whose, plain_reason, skips
from depyf.model.user_line import UserLine
from depyf.views.recompile_findings import recompile_findings
from depyf.views.terminal.line import Asked, line_rows
from depyf.views.words import first_call

Json: TypeAlias = dict[str, Any]
View: TypeAlias = Callable[[Run], list[Json]]

_NUMBER = re.compile(r"__compiled_fn_(\d+)\b")


def overview(run: Run) -> list[Json]:
    """Return each compile in order: its function, its trigger, and its outcome."""
    return [
        {
            "id": str(compiled.id),
            "function": title(function),
            "where": _place(function),
            "trigger": _trigger(function, compiled),
            "graphs": list(compiled.compiled_fns),
            "operations": compiled.op_count,
            "guards": guard_count(compiled),
            "breaks": breaks_of([compiled]).places,
            "calls": compiled.hits,
            "seconds": round(duration(compiled.seconds), 6),
            "backend": compiled.backend,
            "failed": _failed(compiled),
        }
        for function, compiled in run.session.compiles()
    ]


def _failed(compiled: Compile) -> str | None:
    failure = compiled.failure or next((call_failure.failure for call_failure in compiled.call_failures), None)
    return failure.summary if failure is not None else None


def all_findings(run: Run) -> list[Json]:
    """Return the findings, worst first."""
    return [FINDING_ROWS.write(finding) for finding in findings(run.session)]


def breaks(run: Run) -> list[Json]:
    """Return the graph breaks and the user's frames that run eagerly, each once."""
    by_place: dict[tuple[UserLine | None, str], Json] = {}
    for _, compiled in run.session.compiles():
        for graph_break in compiled.breaks:
            row = by_place.setdefault(
                (graph_break.where, graph_break.reason),
                {
                    "reason": graph_break.reason,
                    "code": graph_break.code,
                    "where": _line(graph_break.where),
                    "stack": [_line(line) for line in graph_break.stack],
                    "explanation": graph_break.explanation,
                    "hints": list(graph_break.hints),
                    "compiles": [],
                },
            )
            row["compiles"].append(str(compiled.id))
    return [*by_place.values(), *_eager(run)]


def _eager(run: Run) -> Iterator[Json]:
    empty: Json = {"code": "", "stack": [], "explanation": "", "hints": [], "compiles": []}
    for function, compiled in run.session.compiles():
        if compiled.failure is not None:
            reason = f"given up: {compiled.failure.summary}"
            more = {"hints": compiled.failure.hints, "compiles": [str(compiled.id)]}
            yield {"reason": reason, "where": _place(function), **empty, **more}
    for skip in skips(run.session):
        if skip.whose is Whose.OWN:
            where = {"file": skip.filename, "line": 0, "function": skip.name, "text": ""}
            yield {"reason": f"skipped: {skip.reason}", "where": where, **empty}


def recompiles(run: Run) -> list[Json]:
    """Return each recompile with the refusals of every entry, and the finding that has its fix."""
    rows, fixes, events = [], kinds(run.session), recompile_findings(run.session)
    for function, compiled in run.session.compiles():
        if isinstance(compiled.trigger, Recompile):
            entries = list(entry_reasons(run.session.functions[function.root], function, compiled, fixes))
            near = next((entry for entry in entries if entry.is_nearest), None)
            finding = events.get(str(compiled.id))
            is_expected = finding is not None and not finding.fix
            row = {
                "id": str(compiled.id),
                "function": title(function),
                "where": _place(function),
                "nearest": {"entry": near.entry, "reasons": _reasons(near.reasons, is_expected)}
                if near is not None
                else None,
                "refused": [
                    {"entry": entry.entry, "reasons": _reasons((*entry.reasons, *entry.folded), is_expected)}
                    for entry in entries
                ],
                "finding": FINDING_ROWS.write(finding) if finding is not None else None,
                "seconds": round(duration(compiled.seconds), 6),
            }
            rows.append(row)
    return rows


def _reasons(reasons: Iterable[Reason], is_expected: bool) -> list[Json]:
    """Return reasons as data. A recompile that is expected needs no fix."""
    return [{"text": reason.words, "advice": "" if is_expected else reason.fix} for reason in reasons]


def costs(run: Run) -> list[Json]:
    """Return the time of each compile by phase, the longest first, and how often its code was called."""
    rows = [
        {
            "id": str(compiled.id),
            "function": title(function),
            "where": _place(function),
            "seconds": round(duration(compiled.seconds), 6),
            "backend": compiled.backend,
            "phases": phases(compiled.seconds),
            "operations": compiled.op_count,
            "guards": guard_count(compiled),
            "calls": compiled.hits,
        }
        for function, compiled in run.session.compiles()
    ]
    return sorted(rows, key=lambda row: -row["seconds"])


def compile_times(run: Run) -> list[Json]:
    """Return where the compile time went; an empty list if it was not measured."""
    times = read_times(run.directory)
    if times is None:
        return []
    content = times_json(times)
    return [{key: value for key, value in content.items() if key not in ("schema", "places", "cells")}]


def caches(run: Run) -> list[Json]:
    """Return every lookup in a cache of torch's, in order, with the reason for each miss."""
    return [
        {
            "id": str(look.compile.id),
            "function": title(look.function),
            "cache": look.cache,
            "outcome": look.event.outcome,
            "key": look.event.key,
            "why": look.why,
            "cause": {
                "kind": look.cause.kind,
                "subject": look.cause.subject,
                "before": look.cause.before,
                "after": look.cause.after,
            }
            if look.cause
            else None,
            "nearest": look.nearest or None,
            "details": list(look.cause.details) if look.cause else [],
            "follows": list(look.cause.follows) if look.cause else [],
            "seconds": round(look.seconds, 6),
        }
        for look in looks(run)
    ]


def function_view(name: str) -> View:
    """Return the view of the functions with a name: source, and for each compile its code, guards and files."""

    def view(run: Run) -> list[Json]:
        return [
            _function(run, function)
            for function in run.session.functions.values()
            if name in (title(function), function.name, function.resume_name)
        ]

    return view


def inlined_in(run: Run, name: str) -> list[str]:
    """Return where Dynamo inlined functions with a name, with the options that show them.

    before: `gate`, and `Model.forward` calls `Block.gate`
    after: `Block.gate (net.py:18) is inlined in Model.forward; see --function Model.forward, or --line net.py:19`
    """
    places: dict[tuple[str, str, int], tuple[int, list[str]]] = {}
    for function, compiled in run.session.compiles():
        for read in compiled.lines:
            if name in (read.name, read.name.rpartition(".")[2]) and read.lines:
                place = read.name, read.filename, read.first_line
                places.setdefault(place, (min(read.lines), []))[1].append(title(function))
    return [
        f"{function} ({file}:{first}) is inlined in {', '.join(dict.fromkeys(roots))}; "
        f"see --function {shlex.quote(roots[0])}, or --line {file}:{line}"
        for (function, file, first), (line, roots) in places.items()
    ]


def _function(run: Run, function: Function) -> Json:
    return {
        "function": title(function),
        "where": _definition(function),
        "file": function.file,
        "source": function.source or _source(run, function),
        "compiles": [_compile(run, function, compiled) for compiled in function.compiles],
    }


def _source(run: Run, function: Function) -> str:
    """Return the text of a function from the copy of its file in the dump, from its first line on."""
    lines = run.text(run.session.sources.get(function.filename, "")).splitlines()[max(function.first_line - 1, 0) :]
    head = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    body = lines[:1]
    for line in lines[1:]:
        if line.strip() and len(line) - len(line.lstrip()) <= head and not body[-1].startswith(" " * head + "@"):
            break
        body.append(line)
    return "\n".join(body).rstrip() + "\n" if body else ""


def _compile(run: Run, function: Function, compiled: Compile) -> Json:
    code = compiled.transformed
    guards = compiled.guards
    return {
        "id": str(compiled.id),
        "trigger": _trigger(function, compiled),
        "backend": compiled.backend,
        "transformed": run.text(code.file) if isinstance(code, Transformed) else "",
        "level": code.level.name if isinstance(code, Transformed) else None,
        "unavailable": plain_reason(code.reason) if isinstance(code, Unavailable) else "",
        "guards": [guard.clause for guard in guards.guards] if isinstance(guards, GuardSet) else [],
        "graphs": list(compiled.compiled_fns),
        "kernels": [name for kernel in _kernels(compiled) for name in _names(run.text(kernel.file))],
        "files": [artefact.file for artefact in compiled.artefacts if artefact.file],
        "calls": compiled.hits,
    }


def graph_view(name: str) -> View:
    """Return the view of a graph: `name` is its number, its name, or the id of the compile that made it."""

    def view(run: Run) -> list[Json]:
        return [
            {
                "id": str(compiled.id),
                "stage": artefact.stage,
                "part": artefact.part,
                "file": artefact.file,
                "text": run.text(artefact.file),
            }
            for _, compiled in run.session.compiles()
            for artefact in compiled.artefacts
            if artefact.dialect is Dialect.GRAPH and _is_named(name, compiled, artefact)
        ]

    return view


def _is_named(name: str, compiled: Compile, graph: Artefact) -> bool:
    number = _NUMBER.match(graph.file.rpartition("/")[2])
    wanted = _NUMBER.match(name)
    number_of_graph = number[1] if number is not None else ""
    return name == str(compiled.id) or (
        bool(number_of_graph) and number_of_graph == (wanted[1] if wanted is not None else name)
    )


def kernel_view(name: str) -> View:
    """Return the view of a kernel: its text in each module of Inductor's that contains it."""

    def view(run: Run) -> list[Json]:
        rows = []
        for function, compiled in run.session.compiles():
            for kernel in _kernels(compiled):
                text = run.text(kernel.file)
                for definition in kernel_definitions(text):
                    if definition.name == name:
                        rows.append(_kernel(run, function, compiled, kernel, definition))
        return rows

    return view


def line_view(place: str) -> View:
    """Return the view of a line, FILE:LINE: its compiles, nodes, kernels, findings and times."""
    asked = Asked.of(place)
    return lambda run: line_rows(run, asked) if asked is not None else []


def _kernels(compiled: Compile) -> list[Artefact]:
    return [artefact for artefact in compiled.artefacts if artefact.dialect is Dialect.KERNEL]


def _names(text: str) -> list[str]:
    return [definition.name for definition in kernel_definitions(text)]


def _kernel(run: Run, function: Function, compiled: Compile, kernel: Artefact, definition: KernelDefinition) -> Json:
    """Return the definition of a kernel, and the user's lines that each of its lines computes.

    Args:
        run: the run.
        function: the compiled function.
        compiled: the compile.
        kernel: the module that defines the kernel.
        definition: where in the module.
    """
    source = next(source for source in kernel_sources(run, compiled) if source.artefact is kernel)
    places = origins_of_lines(source.launched(), source.nodes)
    sources = Sources(run)
    return {
        "id": str(compiled.id),
        "function": title(function),
        "kernel": definition.name,
        "file": kernel.file,
        "line": definition.begin,
        "text": definition.text(source.text.splitlines()),
        "origins": [
            {
                "first": number,
                "last": number,
                "where": [
                    _at(UserLine(*place, sources.text_at(place), sources.function_at(place)))
                    for place in sorted(origins)
                ],
            }
            for number, origins in sorted(places.items())
            if definition.first <= number <= definition.last and origins
        ],
    }


def _trigger(function: Function, compiled: Compile) -> str:
    match compiled.trigger:
        case FirstCall():
            return "first call"
        case NoCall(how):
            return how
        case Recompile():
            return "recompile"
        case Resume(caller):
            return f"continues from line {function.resumes_at} after {caller}"


def _place(function: Function) -> Json:
    """Return the place of a function; for code that is none of the program's, the line that called it first."""
    call = first_call(function)
    return _at(call) if call is not None else _definition(function)


def _definition(function: Function) -> Json:
    line = function.resumes_at or function.first_line
    return {"file": function.filename, "line": line, "function": function.name, "text": ""}


def _line(line: UserLine | None) -> Json | None:
    return _at(line) if line is not None else None


def _at(line: UserLine) -> Json:
    return {"file": line.filename, "line": line.line, "function": line.function, "text": line.text}


VIEWS: Mapping[str, View] = {
    "overview": overview,
    "findings": all_findings,
    "breaks": breaks,
    "recompiles": recompiles,
    "caches": caches,
    "costs": costs,
    "compile_times": compile_times,
}
"""The views without an argument."""

NAMED: Mapping[str, Callable[[str], View]] = {
    "function": function_view,
    "graph": graph_view,
    "kernel": kernel_view,
    "line": line_view,
}
"""The views of one object, by its type."""


def names(run: Run, what: str) -> list[str]:
    """Return the names that a named view accepts for a run: functions, graphs or kernels."""
    compiles = [compiled for _, compiled in run.session.compiles()]
    match what:
        case "function":
            all_names = [title(function) for function in run.session.functions.values()]
        case "graph":
            all_names = [graph for compiled in compiles for graph in compiled.compiled_fns]
        case _:
            all_names = [
                name for compiled in compiles for kernel in _kernels(compiled) for name in _names(run.text(kernel.file))
            ]
    return list(dict.fromkeys(all_names))
