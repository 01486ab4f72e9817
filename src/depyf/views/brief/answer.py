"""Answer questions about a run, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.findings import Finding, findings, merged
from depyf.model.counts import breaks_of
from depyf.model.index_reader import Run
from depyf.model.phases import duration
from depyf.model.run import Compile, Function, GuardSet, Recompile, Transformed
from depyf.views.brief.fitted import LEAST, Frame, Json
from depyf.views.brief.ids import COMPILES, FINDINGS, GUARDS, Section, finding_id, rest_id, section_of
from depyf.views.brief.tokens import RULE
from depyf.views.terminal import data

SCHEMA = 1
MOST_COMPILES = 3
"""The compiles that a finding names; its cost has the number of all."""
AROUND = 3
"""Lines of source before and after the line of a finding."""
INDEXES = ("index.md",)


class UnknownIdError(ValueError):
    """The run has nothing with that id."""


@dataclass(frozen=True, slots=True)
class Question:
    """The material of an answer.

    runs: the runs of the processes, by label.
    budget: the most tokens of the answer.
    tried: what `depyf fix` tried, as in its `fix.json`.
    ask: the command for the next question, without the id.
    """

    runs: Mapping[str, Run]
    budget: int
    tried: Sequence[Mapping[str, Any]] = ()
    ask: str = ""
    _found: list[Finding] = field(default_factory=list)

    @property
    def findings(self) -> list[Finding]:
        """Return the findings of all processes, each once, worst first."""
        if not self._found:
            self._found.extend(merged(finding for run in self.runs.values() for finding in findings(run.session)))
        return self._found

    def compiles(self) -> Iterator[tuple[str, Run, Function, Compile]]:
        """Yield all compiles, each with its process, its run and its function."""
        for label, run in self.runs.items():
            for function, compiled in run.session.compiles():
                yield label, run, function, compiled


def answer(question: Question, wanted: str = "") -> str:
    """Return the JSON of the findings and compiles of a run, or of what an id names.

    Raises:
        UnknownIdError: the run has nothing with that id.
        ValueError: the budget is too small for any answer.
    """
    if question.budget < LEAST:
        raise ValueError(f"a budget below {LEAST} tokens leaves no space for an answer")
    if not wanted:
        return _overview(question)
    section = section_of(wanted)
    if section.name == FINDINGS:
        return _list(question, FINDINGS, [_finding(question, finding) for finding in question.findings], section.first)
    if section.name == COMPILES:
        return _list(question, COMPILES, _rows(question), section.first)
    named = [finding for finding in question.findings if finding_id(finding) == section.name]
    if len(named) > 1:
        # Lines of one function with the same cause: an id stays the same when lines move, so it has no line.
        return _list(question, section.name, [_finding(question, finding) for finding in named], section.first)
    if named:
        return _one_finding(question, named[0])
    for label, run, function, compiled in question.compiles():
        if wanted == str(compiled.id):
            return _one_compile(question, label, run, function, compiled)
        if section.name == f"{compiled.id}{GUARDS}":
            return _lines(question, section, _guards(compiled))
    for run in question.runs.values():
        if section.name in files_of(run):
            return _lines(question, section, run.text(section.name).splitlines())
    raise UnknownIdError(f"there is no {wanted!r}; ids are those of an answer, and the names of files in index.md")


def files_of(run: Run) -> set[str]:
    """Return the names of the files of a dump that may be asked for: those that its index names."""
    session = run.session
    artefacts = [*session.loose, *(artefact for _, compiled in session.compiles() for artefact in compiled.artefacts)]
    codes = [compiled.transformed for _, compiled in session.compiles()]
    named = {artefact.file for artefact in artefacts} | {root.file for root in session.roots()}
    named |= {code.file for code in codes if isinstance(code, Transformed)}
    return (named | set(session.sources.values()) | set(INDEXES)) - {""}


def frame_of(question: Question, view: str, **content: object) -> Frame:
    """Return the frame of an answer: the view, how tokens are counted, and what is known already."""
    head = {"schema": SCHEMA, "view": view, "budget": question.budget, "tokens": RULE}
    return Frame({**head, **content}, question.budget)


def _overview(question: Question) -> str:
    frame = frame_of(question, "brief", ask=question.ask, run=_run(question))
    ordered_findings = question.findings
    shown = frame.fill(FINDINGS, (_finding(question, finding) for finding in ordered_findings), at_least_one=True)
    rest = [rest_id(FINDINGS, shown + 1)] if shown < len(ordered_findings) else []
    if not ordered_findings:
        frame.set(FINDINGS, [])
    rows = _rows(question)
    count = frame.fill(COMPILES, _without_repeats(rows)) if not rest else 0
    rest += [rest_id(COMPILES, count + 1)] if count < len(rows) else []
    frame.end("rest", rest)
    return frame.text


def _run(question: Question) -> Json:
    compiles = [compiled for _, _, _, compiled in question.compiles()]
    first = next(iter(question.runs.values())).session
    json: Json = {
        "torch": first.torch_version,
        "processes": len(question.runs) if len(question.runs) > 1 else 0,
        "findings": len(question.findings),
        "compiles": len(compiles),
        "recompiles": sum(isinstance(compiled.trigger, Recompile) for compiled in compiles),
        "graph_breaks": breaks_of(compiles).places,
        "failed": sum(compiled.failure is not None for compiled in compiles),
        "compile_seconds": round(sum(duration(compiled.seconds) for compiled in compiles), 3),
        "unfinished": not all(run.session.ended for run in question.runs.values()),
    }
    return {key: value for key, value in json.items() if value or key in (FINDINGS, COMPILES)}


def _list(question: Question, name: str, items: Sequence[Json], first: int) -> str:
    frame = frame_of(question, name, first=first)
    shown = frame.fill("items", items[first - 1 :], at_least_one=True)
    frame.end("rest", [rest_id(name, first + shown)] if first - 1 + shown < len(items) else [])
    return frame.text


def _finding(question: Question, finding: Finding) -> Json:
    """Return a finding in short, with the ids that have more about it."""
    where, cost = finding.where, finding.cost
    json: Json = {
        "id": finding_id(finding),
        "severity": finding.severity,
        "kind": finding.kind,
        "file": where.file if where is not None else None,
        "line": where.line if where is not None else None,
        "cause": finding.cause,
        "fix": finding.fix,
        "tried": _tried(question, finding),
        "cost": {
            key: value
            for key, value in (
                ("compiles", cost.compiles),
                ("compile_seconds", round(cost.compile_seconds, 3)),
                ("eager_calls", cost.eager_calls),
            )
            if value
        },
        "more": [*finding.compiles[:MOST_COMPILES]],
    }
    return json


def _tried(question: Question, finding: Finding) -> list[Json]:
    """Return what `depyf fix` tried for a finding."""
    place = str(finding.where or "")
    return [
        {key: edit[key] for key in ("edit", "state", "told", "kept") if edit.get(key)}
        for edit in question.tried
        if (edit["finding"]["kind"], edit["finding"]["where"]) == (finding.kind, place)
    ]


def _rows(question: Question) -> list[Json]:
    """Return a row for each compile; values that are nothing are left out."""
    rows = []
    for label, run in question.runs.items():
        for row in data.overview(run):
            where = row["where"]
            shown_row = {**row, "where": f"{where['file']}:{where['line']}", "process": label}
            if len(question.runs) == 1:
                del shown_row["process"]
            rows.append({key: value for key, value in shown_row.items() if value not in (None, 0, "", [])})
    return rows


def _without_repeats(rows: Iterable[Json]) -> Iterator[Json]:
    """Yield rows of compiles, each without what the row before it for the same function says, too."""
    before: dict[tuple[object, object, object], Json] = {}
    for row in rows:
        function = row.get("function"), row.get("where"), row.get("process")
        known = before.get(function, {})
        gone = dict.fromkeys(key for key in known if key not in row)
        yield {**{key: value for key, value in row.items() if key == "id" or known.get(key) != value}, **gone}
        before[function] = row


def _one_finding(question: Question, finding: Finding) -> str:
    """Return all that is known about a finding: its lines, what else differed, torch's hints, the failed guards."""
    frame = frame_of(question, "finding")
    facts_of_finding = {
        **_finding(question, finding),
        "more": [],
        "function": finding.where.function if finding.where else "",
    }
    del facts_of_finding["more"]
    frame.fill("finding", [facts_of_finding], at_least_one=True)
    frame.content["finding"] = frame.content["finding"][0]
    runs = list(question.runs.values())
    frame.fill("source", next((lines for lines in (_source(run, finding) for run in runs) if lines), []))
    also = ({"cause": other.cause, "at": str(other.where or ""), "fix": other.fix} for other in finding.also)
    frame.fill("also", also)
    frame.fill("breaks", (row for run in runs for row in _breaks(run, finding)))
    frame.fill("failed_guards", (row for run in runs for row in _failed(run, finding)))
    shown = frame.fill("compiles", finding.compiles)
    frame.end("rest", [rest_id(COMPILES, 1)] if shown < len(finding.compiles) else [])
    return frame.text


def _source(run: Run, finding: Finding) -> list[str]:
    """Return the lines around the line of a finding, each with its number."""
    where = finding.where
    if where is None or not where.line:
        return []
    lines = run.text(run.session.sources.get(where.file, "")).splitlines()
    first = max(where.line - AROUND, 1)
    shown = lines[first - 1 : where.line + AROUND]
    return [f"{number}{'>' if number == where.line else ' '} {text}" for number, text in enumerate(shown, first)]


def _breaks(run: Run, finding: Finding) -> Iterator[Json]:
    for row in data.breaks(run) if finding.kind.startswith(("break", "graph-break")) else ():
        place = row["where"]
        if place is not None and set(row["compiles"]) & set(finding.compiles):
            stack = [f"{line['file']}:{line['line']} in {line['function']}: {line['text']}" for line in row["stack"]]
            head = {"reason": row["reason"], "at": f"{place['file']}:{place['line']}", "text": place["text"]}
            yield {**head, "called_by": stack, "hints": row["hints"]}


def _failed(run: Run, finding: Finding) -> Iterator[Json]:
    for recompile in data.recompiles(run):
        if recompile["id"] in finding.compiles and recompile["nearest"] is not None:
            reasons = [reason["text"] for reason in recompile["nearest"]["reasons"]]
            yield {"compile": recompile["id"], "entry": recompile["nearest"]["entry"], "guards": reasons}


def _one_compile(question: Question, label: str, run: Run, function: Function, compiled: Compile) -> str:
    """Return a compile: its row, its failure, the ids of its files, and the code that runs."""
    row = next(row for row in _rows(question) if row["id"] == str(compiled.id))
    frame = frame_of(question, "compile", compile={**row, "process": label} if len(question.runs) > 1 else row)
    if compiled.failure is not None:
        frame.fill("failure", [compiled.failure.reason], at_least_one=True)
    if isinstance(compiled.guards, GuardSet):
        frame.set("guards", f"{compiled.id}{GUARDS}")
    files = [root for root in (run.session.functions[function.root].file,) if root]
    files += [artefact.file for artefact in compiled.artefacts if artefact.file]
    code = compiled.transformed.file if isinstance(compiled.transformed, Transformed) else ""
    lines = run.text(code).splitlines() if code else []
    shown = frame.fill_lines("code", lines)
    rest = [rest_id(code, shown + 1)] if shown < len(lines) else []
    count = frame.fill("files", files)
    frame.end("rest", rest + (["index.md"] if count < len(files) else []))
    return frame.text


def _guards(compiled: Compile) -> list[str]:
    guards = compiled.guards
    return [_guard(guard) for guard in guards.guards] if isinstance(guards, GuardSet) else [guards.reason]


def _guard(guard: Any) -> str:  # noqa: ANN401 - one of the model's guards
    where = guard.where
    clause = " ".join(guard.clause.split("\n"))
    return f"{clause}  # {where.filename}:{where.line}" if where is not None else clause


def _lines(question: Question, section: Section, lines: Sequence[str]) -> str:
    """Return lines of a text, as many as fit, and the id of the rest."""
    last = len(lines) if section.last is None else min(section.last, len(lines))
    frame = frame_of(question, "lines", id=section.name, first=section.first, of=len(lines))
    shown = frame.fill_lines("text", list(_from(lines, section.first, last)))
    ends = section.first - 1 + shown
    frame.end("rest", [rest_id(section.name, ends + 1)] if ends < last else [])
    return frame.text


def _from(lines: Sequence[str], first: int, last: int) -> Iterable[str]:
    return lines[max(first - 1, 0) : last]
