"""`index.json`: the content of `index.md`, for programs.

`schema` is the version of the schema. It increases when a key is removed or changes its meaning; keys may be added.
Files are relative to the directory, and times are in seconds. Everything except `seconds`, `compile_seconds`, `began`,
`metrics` and `caches` is the same for two runs of one program.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.model.claims import own_process
from depyf.model.cuda_graphs import CudaGraph
from depyf.model.failure import Failure
from depyf.model.finding import Finding, Where
from depyf.model.guard_failure import GuardFailure
from depyf.model.lines_read import LinesRead
from depyf.model.repeats import Repeat
from depyf.model.run import (
    Artefact,
    CacheEvent,
    Compile,
    FailedEntry,
    FirstCall,
    Function,
    GraphBreak,
    Guard,
    GuardSet,
    NoCall,
    OtherEntries,
    Recompile,
    Resume,
    Session,
    ShapeFact,
    Transformed,
    Trigger,
    Unavailable,
)
from depyf.model.trace_file import TraceFile
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_installed, short_path

SCHEMA = 2

TRIGGERS: dict[type[Trigger], str] = {
    FirstCall: "first call",
    NoCall: "no call",
    Recompile: "recompile",
    Resume: "resume",
}
"""The index's names of the kinds of triggers."""

_OWN = uuid.uuid4().hex
"""A random mark. No text of the program or of a log can contain it."""
_MARK = re.compile(rf'"{_OWN} (\d+)"')


@dataclass(frozen=True, slots=True)
class OneLine:
    """A part of the index that is written without line breaks."""

    content: dict[str, Any] | tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class GuardLines:
    """The guards of a compile, a line each. A model has thousands: their JSON is put together from its strings.

    The text of a user's line is written once, with the first of the guards that the line needs.
    """

    guards: tuple[Guard, ...]

    @property
    def content(self) -> list[dict[str, Any]]:
        """The guards as data."""
        return [
            {"kind": each.kind, "source": each.source, "clause": each.clause, "where": _line(where)}
            for each, where in zip(self.guards, self._places(), strict=True)
        ]

    def lines(self) -> list[str]:
        """Return the JSON of each guard."""
        quoted = json.JSONEncoder().encode
        wheres = self._places()
        places = {where: quoted(_line(where)) for where in wheres}
        return [
            f'{{"kind": {quoted(each.kind)}, "source": {quoted(each.source)}, "clause": {quoted(each.clause)}, '
            f'"where": {places[where]}}}'
            for each, where in zip(self.guards, wheres, strict=True)
        ]

    def _places(self) -> list[UserLine | None]:
        """Return the line of each guard, with its text for the first guard of the line."""
        seen: dict[UserLine, UserLine] = {}
        found: list[UserLine | None] = []
        for each in self.guards:
            where = each.where
            found.append(where if where is None else seen.get(where, where))
            if where is not None and where not in seen:
                seen[where] = replace(where, text="")
        return found


def index_json(session: Session, findings: tuple[Finding, ...]) -> str:
    """Return the text of `index.json`, which holds the findings of the run."""
    return "".join(index_parts(session, findings))


def index_parts(session: Session, findings: tuple[Finding, ...]) -> Iterator[str]:
    """Yield the text of `index.json` piece by piece: for 10,000 compiles the data would take many times its 100 MB."""
    before = {
        "schema": SCHEMA,
        **head(session),
        "process": own_process(),
        "ended": session.ended,
        "findings": [finding_json(finding) for finding in findings],
    }
    after = {
        "order": [str(each.id) for _, each in session.compiles()],
        **{name: make(session) for name, (_, make) in OTHERS.items()},
        "trace": _trace(session.trace) if session.trace is not None else None,
    }
    yield _readable(before).removesuffix("\n}") + ',\n "functions": ['
    resumed: dict[str, list[Function]] = {}
    for function in session.functions.values():
        if function.is_resume:
            resumed.setdefault(function.root, []).append(function)
    for number, root in enumerate(session.roots()):
        told = _function(root) | {"resume_functions": [_resume(each) for each in resumed.get(root.key, ())]}
        yield ("," if number else "") + "\n  " + _readable(told).replace("\n", "\n  ")
    yield ("\n ]," if session.roots() else "],") + _readable(after).removeprefix("{") + "\n"


def head(session: Session) -> dict[str, Any]:
    """Return the versions of torch and Python."""
    return {"torch": session.torch_version, "python": session.python_version}


OTHERS: dict[str, tuple[str, Callable[[Session], Any]]] = {
    "sources": (
        "sources",
        lambda session: [
            {"file": short_path(filename), "path": filename, "dump": dumped}
            for filename, dumped in session.sources.items()
        ],
    ),
    "packed": ("packed", lambda session: OneLine(tuple(sorted(session.packed)))),
    "outside": ("loose", lambda session: [_artefact(each) for each in session.loose]),
    "compiled_before": (
        "earlier",
        lambda session: [
            {"name": name, "file": short_path(filename), "line": line, "hits": hits}
            for (name, filename, line), hits in session.earlier.items()
        ],
    ),
    "skipped": (
        "skipped",
        lambda session: [
            {
                "name": name,
                "file": short_path(filename),
                "installed": is_installed(filename),
                "reason": reason,
                "times": times,
            }
            for (name, filename, reason), times in session.skipped.items()
        ],
    ),
    "bypassed": (
        "bypassed",
        lambda session: [
            {
                "way": each.way.value,
                "what": each.what,
                "detail": each.detail,
                "where": _line(each.where),
                "about": each.about,
                "compile": each.compile,
                "reason": each.reason,
                "times": times,
            }
            for each, times in session.bypassed.items()
        ],
    ),
    "unavailable": ("unavailable", lambda session: dict(sorted(session.unavailable.items()))),
    "shapes": ("shapes", lambda session: [OneLine(_shape(each)) for each in session.shapes]),
    "problems": (
        "problems",
        lambda session: [{"where": each.where, "message": each.message} for each in session.problems],
    ),
}
"""The parts of the index beside the compiles: for each key, the part of the session and its value."""


def _readable(content: dict[str, Any]) -> str:
    """Return JSON with one key per line, and one guard per line. Python's encoder is slow when it indents.

    A value on one line is encoded separately and replaces its mark.
    """
    rows: list[OneLine | GuardLines] = []

    def mark(value: object) -> object:
        if isinstance(value, (OneLine, GuardLines)):
            rows.append(value)
            return f"{_OWN} {len(rows) - 1}"
        raise TypeError(f"{type(value).__name__} is not JSON")

    text = json.dumps(content, indent=1, default=mark)

    def unmarked(found: re.Match[str]) -> str:
        row = rows[int(found[1])]
        if isinstance(row, OneLine):
            return json.dumps(row.content)
        line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        margin = "\n" + " " * (len(line) - len(line.lstrip()))
        lines = f",{margin} ".join(row.lines())
        return f"[{margin} {lines}{margin}]" if lines else "[]"

    return _MARK.sub(unmarked, text)


def finding_json(found: Finding) -> dict[str, Any]:
    """Return the data of a finding."""
    where, cost = found.where, found.cost
    return {
        "kind": found.kind,
        "severity": found.severity,
        "where": _where(where),
        "cause": found.cause,
        "cost": {
            "eager_calls": cost.eager_calls,
            "compile_seconds": cost.compile_seconds,
            "compiles": cost.compiles,
        },
        "fix": found.fix,
        "compiles": list(found.compiles),
        "also": [
            {
                "kind": difference.kind,
                "where": _where(difference.where),
                "cause": difference.cause,
                "fix": difference.fix,
                "count": difference.count,
            }
            for difference in found.also
        ],
    }


def _where(where: Where | None) -> dict[str, Any] | None:
    return {"file": where.file, "line": where.line, "function": where.function} if where is not None else None


def _resume(function: Function) -> dict[str, Any]:
    return _function(function) | resume_head(function)


def _function(function: Function) -> dict[str, Any]:
    return function_head(function) | {"compiles": [_compile(each) for each in function.compiles]}


def function_head(function: Function) -> dict[str, Any]:
    """Return the data of a function except for its compiles."""
    return {
        "name": function.name,
        "qualname": function.qualname,
        "file": short_path(function.filename),
        "line": function.first_line,
        "dump": function.file,
        "eager_calls": function.eager_calls,
        "parameters": OneLine(function.parameters),
    }


def resume_head(function: Function) -> dict[str, Any]:
    """Return the additional data of a resume function."""
    return {
        "broke_at": function.break_line,
        "resumes_at": function.resumes_at,
        "called_as": function.resume_name,
    }


def _compile(each: Compile) -> dict[str, Any]:
    return {name: made for name, make in COMPILE.items() if (made := make(each)) or name not in OPTIONAL}


PARTS: dict[str, Callable[[Iterable[Any]], list[Any]]] = {
    "artefacts": lambda found: [_artefact(each) for each in found],
    "breaks": lambda found: [_break(each) for each in found],
    "caches": lambda found: [OneLine(_cache(each)) for each in found],
    "cuda_graphs": lambda found: [OneLine(_cuda_graph(each)) for each in found],
    "shapes": lambda found: [OneLine(_shape(each)) for each in found],
}
"""How to write those parts of a compile that grow while it runs."""

COMPILE: dict[str, Callable[[Compile], Any]] = {
    "id": lambda each: str(each.id),
    "attempts": lambda each: each.attempts,
    "backend": lambda each: each.backend,
    "trigger": lambda each: _trigger(each.trigger),
    "called_from": lambda each: [_line(line) for line in each.user_stack],
    "transformed": lambda each: _transformed(each.transformed),
    "graphs_called": lambda each: list(each.compiled_fns),
    "resume_functions_called": lambda each: list(each.resumes),
    "artefacts": lambda each: PARTS["artefacts"](each.artefacts),
    "guards": lambda each: _guards(each.guards),
    "guard_count": lambda each: each.guard_count,
    "op_count": lambda each: each.op_count,
    "hits": lambda each: each.hits,
    "breaks": lambda each: PARTS["breaks"](each.breaks),
    "side_effects": lambda each: [
        {"source": effect.source, "lines": [_line(line) for line in effect.lines]} for effect in each.effects
    ],
    "caches": lambda each: PARTS["caches"](each.caches),
    "cuda_graphs": lambda each: PARTS["cuda_graphs"](each.cuda_graphs),
    "shapes": lambda each: PARTS["shapes"](each.shapes),
    "metrics": lambda each: OneLine(each.metrics),
    "failure": lambda each: _failure(each.failure) if each.failure else None,
    "call_failures": lambda each: [{**_failure(one.failure), "times": one.times} for one in each.call_failures],
    "phase": lambda each: each.phase,
    "phase_began": lambda each: each.phase_began,
    "lines": lambda each: [OneLine(_lines_read(lines)) for lines in each.lines],
    "repeats": lambda each: [OneLine(_repeat(repeat)) for repeat in each.repeats],
    "gone": lambda each: each.gone or None,
    "contrast": lambda each: (
        {"entry": each.contrast.entry, "respects": list(each.contrast.respects)} if each.contrast else None
    ),
    "began": lambda each: each.began,
    "seconds": lambda each: each.seconds,
}
"""How to write each part of a compile."""

OPTIONAL = ("repeats",)
"""The parts that are left out if they are empty."""


def _repeat(repeat: Repeat) -> dict[str, Any]:
    told = {"first": repeat.first, "last": repeat.last, "blocks": repeat.blocks, "operations": repeat.operations}
    return told | {"whole": repeat.whole, "where": _line(repeat.where)}


def _lines_read(lines: LinesRead) -> dict[str, Any]:
    return {
        "function": lines.name,
        "file": short_path(lines.filename),
        "line": lines.first_line,
        "lines": lines.lines,
        "in_graphs": lines.in_graphs,
        "read": lines.read,
        **({"deciding": lines.deciding} if lines.deciding else {}),
    }


def _failure(failure: Failure) -> dict[str, Any]:
    where = _line(failure.where)
    told = {"kind": failure.kind, "reason": failure.reason, "where": where, "phase": failure.phase}
    more = {"causes": list(failure.causes), "demanded_by": failure.demanded_by}
    return {**told, "raised": failure.raised, **more}


def _trigger(trigger: Trigger) -> dict[str, Any]:
    kind = {"kind": TRIGGERS[type(trigger)]}
    match trigger:
        case FirstCall(failed):
            return kind | ({"failed": failed} if failed else {})
        case NoCall(how):
            return kind | {"how": how}
        case Recompile(entries, others):
            return kind | {"entries": [_failed(entry) for entry in entries], "others": _others(others)}
        case Resume(caller, offset):
            return kind | {"caller": str(caller), "offset": offset}


def _failed(entry: FailedEntry) -> dict[str, Any]:
    failures = [OneLine(_guard_failure(failure)) for failure in entry.failures]
    return {
        "entry": entry.entry,
        "clauses": list(entry.clauses),
        "complete": entry.is_complete,
        "failures": failures,
    }


def _guard_failure(failure: GuardFailure) -> dict[str, Any]:
    """Return the data of a guard failure, without parts that are unknown."""
    parts = {
        "guard": failure.guard,
        "source": failure.source,
        "check": failure.check.name,
        "expected": failure.expected,
        "actual": failure.actual,
        "item": failure.item,
        "type": failure.type,
        "dimension": failure.dimension if failure.dimension >= 0 else None,
        "values": [list(pair) for pair in failure.values],
        "where": _line(failure.line),
        "text": failure.text,
    }
    return {name: part for name, part in parts.items() if part not in ("", None, [])}


def _others(others: OtherEntries | None) -> dict[str, Any] | None:
    if others is None:
        return None
    return {"count": others.count, "first": others.first, "last": others.last, "forms": list(others.forms)}


def _transformed(transformed: Transformed | Unavailable) -> dict[str, Any]:
    if isinstance(transformed, Unavailable):
        return {"unavailable": transformed.reason}
    return {
        "file": transformed.file,
        "level": transformed.level.name,
        "reason": transformed.reason,
        "installed": transformed.installed,
        "instructions": transformed.instructions,
        "lines_of_bytecode": [OneLine(code) for code in transformed.lines_of_bytecode],
    }


def _guards(guards: GuardSet | Unavailable) -> Any:  # noqa: ANN401 - JSON
    if isinstance(guards, Unavailable):
        return {"unavailable": guards.reason}
    return GuardLines(guards.guards)


def _artefact(artefact: Artefact) -> dict[str, Any]:
    return {
        "stage": artefact.stage,
        "kind": artefact.dialect.value,
        "part": artefact.part,
        "attempt": artefact.attempt,
        "file": artefact.file,
    }


def _cache(event: CacheEvent) -> dict[str, Any]:
    return {
        "cache": event.cache,
        "outcome": event.outcome,
        "key": event.key,
        "reason": event.reason,
        "seconds_saved": event.seconds_saved,
        "file": event.artefact.file,
    }


def _cuda_graph(found: CudaGraph) -> dict[str, Any]:
    where = UserLine(found.place[0], found.place[1], "", found.place[2]) if found.place else None
    told = {"event": found.event, "part": found.part, "reason": found.reason}
    return {**told, "where": _line(where), "seconds": found.seconds}


def _shape(fact: ShapeFact) -> dict[str, Any]:
    return {"kind": fact.kind, "expression": fact.expression, "detail": fact.detail, "where": _line(fact.where)}


def _trace(trace: TraceFile) -> dict[str, Any]:
    return {
        "file": trace.name,
        "size": trace.size,
        "records": trace.records,
        "omitted": trace.omitted,
        "last": trace.last,
        "seconds": trace.seconds,
    }


def _break(found: GraphBreak) -> dict[str, Any]:
    return {
        "reason": found.reason,
        "explanation": found.explanation,
        "hints": list(found.hints),
        "code": found.code,
        "where": _line(found.where),
        "stack": [_line(line) for line in found.stack],
        **({"called": _line(found.called)} if found.called is not None else {}),
    }


def _line(line: UserLine | None) -> dict[str, Any] | None:
    if line is None:
        return None
    return {"file": short_path(line.filename), "line": line.line, "function": line.function, "text": line.text}
