"""One of the user's lines as plain data: who compiled it, what became of it, its findings, and its times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from depyf.bytecode.records import dataclass
from depyf.findings import findings
from depyf.links.line_states import line_states
from depyf.links.of_line import CompiledLine, Row, compiles_of_line, is_same_file, read_lines
from depyf.links.origins import Origin
from depyf.links.profile.files import read_profile
from depyf.links.profile.units import Sources
from depyf.model.compile_times import OF_PROCESS, CompileTimes, read_times
from depyf.model.finding import FINDING_ROWS
from depyf.model.index_reader import Run
from depyf.model.naming import title
from depyf.model.phases import duration
from depyf.model.run import Recompile

Json: TypeAlias = dict[str, Any]

_PLACE = re.compile(r"(?P<file>.+):(?P<line>\d+)$")
NEAR = 8
"""The most lines that are named instead of a line without a compile."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A line of the user's as a person names it: a path or the end of one, and a number."""

    file: str
    line: int

    @classmethod
    def of(cls, text: str) -> Asked | None:
        """Return the line that FILE:LINE names, or None for another text.

        >>> Asked.of("train.py:31"), Asked.of("train.py")
        (Asked(file='train.py', line=31), None)
        """
        place = _PLACE.match(text)
        return cls(place["file"], int(place["line"])) if place is not None else None


def line_rows(run: Run, asked: Asked) -> list[Json]:
    """Return what became of a line, once for each file of the run to which the path fits.

    An empty list means that no compile read the line.
    """
    files = [file for file, lines in read_lines(run.session).items() if is_same_file(file, asked.file)]
    rows = (_row(run, (file, asked.line)) for file in files)
    return [row for row in rows if row["state"] or row["compiles"] or row["findings"]]


def nearest_lines(runs: Iterable[Run], asked: Asked) -> str:
    """Return a sentence for a line that no compile read. It names compiled lines near it, or the compiled files."""
    read: dict[str, set[int]] = {}
    for run in runs:
        for file, lines in read_lines(run.session).items():
            read.setdefault(file, set()).update(lines)
    fitting = {file: lines for file, lines in read.items() if is_same_file(file, asked.file)}
    if not fitting:
        files = ", ".join(sorted(file for file, lines in read.items() if lines)) or "none"
        return f"no compiled code is in {asked.file!r}; files with compiled code: {files}"
    numbers_read = sorted({line for file_lines in fitting.values() for line in file_lines})
    near = sorted(sorted(numbers_read, key=lambda line: abs(line - asked.line))[:NEAR])
    numbers = ", ".join(map(str, near)) or "none"
    return f"no compile read {asked.file}:{asked.line}; compiled lines near it: {numbers}"


def _row(run: Run, place: Origin) -> Json:
    sources = Sources(run)
    functions = [function for function in line_states(run.session) if function.filename == place[0]]
    around = [function for function in functions if place[1] in function.states]
    return {
        "where": {
            "file": place[0],
            "line": place[1],
            "function": ", ".join(dict.fromkeys(function.name for function in around)),
            "text": sources.text_at(place),
        },
        "state": around[0].states[place[1]].words if around else "",
        "compiles": [_compile(compiled) for compiled in compiles_of_line(run, place)],
        "findings": [
            FINDING_ROWS.write(finding)
            for finding in findings(run.session)
            if any(
                where is not None and (where.file, where.line) == place
                for where in (finding.where, *(difference.where for difference in finding.also))
            )
        ],
        "compile_time": _compile_time(read_times(run.directory), place),
        "step_time": _step_time(read_profile(run.directory), place),
    }


def _compile(compiled: CompiledLine) -> Json:
    return {
        "id": str(compiled.compile.id),
        "function": title(compiled.function),
        "trigger": "recompile" if isinstance(compiled.compile.trigger, Recompile) else "",
        "seconds": round(duration(compiled.compile.seconds), 6),
        "calls": compiled.compile.hits,
        "graphs": [
            {"stage": graph.stage, "file": graph.file, "lines": _lines(graph.rows)} for graph in compiled.graphs
        ],
        "kernels": [
            {
                "kernel": kernel.name,
                "part": kernel.part,
                "file": kernel.file,
                "line": kernel.line,
                "lines": _lines(kernel.rows),
                "linked": kernel.is_linked,
                "with": [f"{file}:{line}" for file, line in kernel.others],
            }
            for kernel in compiled.kernels
        ],
    }


def _lines(rows: Iterable[Row]) -> list[Json]:
    return [{"line": number, "text": text} for number, text in rows]


def _compile_time(times: CompileTimes | None, place: Origin) -> Json | None:
    """Return the seconds of compiling that belong to a line; None if they were not measured.

    alone: the line itself, without the calls in it.
    calls: the functions that it calls.
    together: kernels that compute the line with others.
    whole: all compiles of the run.
    """
    if times is None:
        return None
    seconds = {"alone": 0.0, "calls": 0.0, "together": 0.0}
    for cell in times.cells:
        if cell.stage in OF_PROCESS:
            continue
        innermost = times.own_place(cell.place)
        for caller in times.callers(innermost):
            at = times.places[caller]
            if place[1] in at.lines and is_same_file(at.file, place[0]):
                kind = "together" if len(at.lines) > 1 else "alone" if caller == innermost else "calls"
                seconds[kind] += cell.seconds
                break
    return {**{kind: round(value, 6) for kind, value in seconds.items()}, "whole": round(times.seconds, 6)}


def _step_time(profile: Mapping[str, Any] | None, place: Origin) -> Json | None:
    """Return the seconds of a step that belong to a line; None if no step was measured.

    alone: the line itself.
    together: kernels that compute the line with others.
    whole: the step.
    """
    if profile is None or not profile["step"]["steps"]:
        return None
    seconds = {"alone": 0.0, "together": 0.0}
    for row in profile["lines"]:
        places = [(line["file"], line["line"]) for line in row["set"] or [row]]
        if place in places:
            seconds["together" if row["set"] else "alone"] += row["seconds"]
    return {**seconds, "whole": profile["step"]["seconds"]}
