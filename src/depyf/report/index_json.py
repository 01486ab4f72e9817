"""`index.json`: what `index.md` tells, for programs.

The schema: `schema` is its version, raised when a key changes its meaning or goes; keys may be added. Files are
relative to the directory, times are seconds. Everything but `seconds`, `compile_seconds`, `began`, `metrics` and
`caches` is the same for two runs of one program.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from depyf.report.claims import own_process
from depyf.report.findings import Finding, findings
from depyf.report.lines_read import LinesRead
from depyf.report.model import (
    Artefact,
    CacheEvent,
    Compile,
    Failure,
    FirstCall,
    Function,
    GraphBreak,
    GuardSet,
    OtherRefusals,
    Recompile,
    Resume,
    Session,
    ShapeFact,
    Transformed,
    Trigger,
    Unavailable,
    UserLine,
)
from depyf.report.trace_file import TraceFile
from depyf.report.user_source import is_installed, short_path

SCHEMA = 1

_MARK = re.compile(r'"\\u0000(\d+)\\u0000"')


@dataclass(frozen=True, slots=True)
class OneLine:
    """A part of the index that is written without line breaks."""

    content: dict[str, Any] | tuple[Any, ...]


def index_json(session: Session) -> str:
    """Return the text of `index.json`."""
    content = {
        "schema": SCHEMA,
        "torch": session.torch_version,
        "python": session.python_version,
        "process": own_process(),
        "ended": session.ended,
        "findings": [_finding(each) for each in findings(session)],
        "functions": [_root(session, root) for root in session.roots()],
        "order": [str(each.id) for _, each in session.compiles()],
        "sources": [
            {"file": short_path(filename), "path": filename, "dump": dumped}
            for filename, dumped in session.sources.items()
        ],
        "outside": [_artefact(each) for each in session.loose],
        "compiled_before": [
            {"name": name, "file": short_path(filename), "line": line, "hits": hits}
            for (name, filename, line), hits in session.earlier.items()
        ],
        "skipped": [
            {
                "name": name,
                "file": short_path(filename),
                "installed": is_installed(filename),
                "reason": reason,
                "times": times,
            }
            for (name, filename, reason), times in session.skipped.items()
        ],
        "unavailable": dict(sorted(session.unavailable.items())),
        "shapes": [OneLine(_shape(each)) for each in session.shapes],
        "trace": _trace(session.trace) if session.trace is not None else None,
        "problems": [{"where": each.where, "message": each.message} for each in session.problems],
    }
    return _readable(content)


def _readable(content: dict[str, Any]) -> str:
    """Return JSON with a key per line, but a guard per line: Python's encoder is slow when it indents.

    A model has thousands of guards. They are encoded on their own, and put where their marks stand.
    """
    rows: list[str] = []

    def mark(value: object) -> object:
        if isinstance(value, OneLine):
            rows.append(json.dumps(value.content))
            return f"\0{len(rows) - 1}\0"
        raise TypeError(f"{type(value).__name__} is not JSON")

    text = json.dumps(content, indent=1, default=mark)
    return _MARK.sub(lambda found: rows[int(found[1])], text) + "\n"


def _finding(found: Finding) -> dict[str, Any]:
    where, cost = found.where, found.cost
    return {
        "kind": found.kind,
        "severity": found.severity,
        "where": {"file": where.file, "line": where.line, "function": where.function} if where else None,
        "cause": found.cause,
        "cost": {
            "eager_calls": cost.eager_calls,
            "compile_seconds": cost.compile_seconds,
            "compiles": cost.compiles,
        },
        "fix": found.fix,
        "compiles": list(found.compiles),
    }


def _root(session: Session, function: Function) -> dict[str, Any]:
    return _function(function) | {"resume_functions": [_resume(each) for each in session.resumes_of(function)]}


def _resume(function: Function) -> dict[str, Any]:
    return _function(function) | {
        "broke_at": function.break_line,
        "resumes_at": function.resumes_at,
        "called_as": function.resume_name,
    }


def _function(function: Function) -> dict[str, Any]:
    return {
        "name": function.name,
        "qualname": function.qualname,
        "file": short_path(function.filename),
        "line": function.first_line,
        "dump": function.file,
        "eager_calls": function.eager_calls,
        "compiles": [_compile(each) for each in function.compiles],
    }


def _compile(each: Compile) -> dict[str, Any]:
    return {
        "id": str(each.id),
        "attempts": each.attempts,
        "trigger": _trigger(each.trigger),
        "called_from": [_line(line) for line in each.user_stack],
        "transformed": _transformed(each.transformed),
        "graphs_called": list(each.compiled_fns),
        "resume_functions_called": list(each.resumes),
        "artefacts": [_artefact(artefact) for artefact in each.artefacts],
        "guards": _guards(each.guards),
        "guard_count": each.guard_count,
        "op_count": each.op_count,
        "hits": each.hits,
        "breaks": [_break(found) for found in each.breaks],
        "side_effects": [
            {"source": effect.source, "lines": [_line(line) for line in effect.lines]} for effect in each.effects
        ],
        "caches": [OneLine(_cache(event)) for event in each.caches],
        "shapes": [OneLine(_shape(fact)) for fact in each.shapes],
        "metrics": OneLine(each.metrics),
        "failure": _failure(each.failure) if each.failure else None,
        "lines": [OneLine(_lines_read(lines)) for lines in each.lines],
        "gone": each.gone or None,
        "contrast": {"entry": each.contrast.entry, "respects": list(each.contrast.respects)} if each.contrast else None,
        "began": each.began,
        "seconds": each.seconds,
    }


def _lines_read(lines: LinesRead) -> dict[str, Any]:
    return {
        "function": lines.name,
        "file": short_path(lines.filename),
        "line": lines.first_line,
        "lines": lines.lines,
        "in_graphs": lines.in_graphs,
        "read": lines.read,
    }


def _failure(failure: Failure) -> dict[str, Any]:
    return {"kind": failure.kind, "reason": failure.reason, "where": _line(failure.where)}


def _trigger(trigger: Trigger) -> dict[str, Any]:
    match trigger:
        case FirstCall(failed):
            return {"kind": "first call", **({"failed": failed} if failed else {})}
        case Recompile(refusals, others):
            refused = [
                {"entry": each.entry, "clauses": list(each.clauses), "explained": list(each.explained)}
                for each in refusals
            ]
            return {"kind": "recompile", "refused": refused, "others": _others(others)}
        case Resume(caller, offset):
            return {"kind": "resume", "caller": str(caller), "offset": offset}


def _others(others: OtherRefusals | None) -> dict[str, Any] | None:
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
    return [
        OneLine({"kind": each.kind, "source": each.source, "clause": each.clause, "where": _line(each.where)})
        for each in guards.guards
    ]


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
    }


def _line(line: UserLine | None) -> dict[str, Any] | None:
    if line is None:
        return None
    return {"file": short_path(line.filename), "line": line.line, "function": line.function, "text": line.text}
