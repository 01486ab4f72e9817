"""The summary of the compiles in a launched program's processes, in three lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.cli.launch.settings import Settings
from depyf.findings import Finding, findings, merged
from depyf.links.profile.files import read_profile
from depyf.links.profile.text import most_expensive
from depyf.model.compile_times import read_times
from depyf.model.counts import Place, break_count, counted, places_of_breaks
from depyf.model.index_reader import changed_at, has_index, load_index, session_of
from depyf.model.naming import title
from depyf.model.phases import duration
from depyf.model.run import Recompile, Transformed
from depyf.verify.level import Level
from depyf.views.compile_times import compile_times_text

PARTS = frozenset(("other", "source", "report", "data"))
"""Folders that belong to a dump and are no dumps themselves."""
MOST_FINDINGS = 5
"""Findings printed at the end of a run; the report has the others."""
SLOWEST_AT_LEAST = 1.0
"""The slowest compile is mentioned if it took this many seconds."""


@dataclass(slots=True)
class Summary:
    """All indexes below a directory, added up.

    unfinished: folders whose process ended before it wrote a complete index.
    """

    places: list[Path] = field(default_factory=list)
    unfinished: list[Path] = field(default_factory=list)
    functions: int = 0
    compiles: int = 0
    seconds: float = 0.0
    recompiles: int = 0
    given_up: int = 0
    failed_calls: int = 0
    """Calls in which the code of a backend raised an exception."""
    unproven: int = 0
    with_code: int = 0
    """Compiles that produced code."""
    problems: int = 0
    slowest: tuple[float, str] = (0.0, "")
    breaks: list[Place] = field(default_factory=list)
    """The place and the reason of each graph break, compile by compile."""
    findings: list[Finding] = field(default_factory=list)


def summarised(directory: Path, since: float) -> Summary:
    """Return the summary of the dumps below a directory that were written at `since` (seconds since 1970) or later."""
    summary = Summary()
    folders = sorted({path.parent for path in directory.rglob("*.*") if path.parent.name not in PARTS})
    for folder in [directory, *(parent for parent in folders if parent != directory)]:
        if has_index(folder) and changed_at(folder) >= since:
            _add(summary, folder, load_index(folder))
        elif any(path.stat().st_mtime >= since for path in folder.glob("__*.py")):
            summary.unfinished.append(folder)
    return summary


def _add(summary: Summary, folder: Path, index: dict[str, Any]) -> None:
    (summary.places if index["ended"] else summary.unfinished).append(folder)
    session = session_of(index)
    summary.functions += len(session.roots())
    summary.problems += len(session.problems)
    summary.findings += findings(session)
    for function, compiled in session.compiles():
        seconds, transformed = duration(compiled.seconds), compiled.transformed
        summary.compiles += 1
        summary.seconds += seconds
        summary.breaks += places_of_breaks([compiled])
        summary.recompiles += isinstance(compiled.trigger, Recompile)
        summary.given_up += compiled.failure is not None
        summary.failed_calls += sum(call_failure.times for call_failure in compiled.call_failures)
        summary.with_code += isinstance(transformed, Transformed) and compiled.failure is None
        summary.unproven += isinstance(transformed, Transformed) and transformed.level is Level.UNPROVEN
        name = title(session.functions[function.root])
        summary.slowest = max(summary.slowest, (seconds, f"{compiled.id} of {name}"))


def lines(summary: Summary, directory: Path, called: Path, only: str = "") -> list[str]:
    """Return lines about the compiles, the findings, and the place of the files.

    Args:
        summary: the summary of the run's dumps.
        directory: the directory of the run.
        called: the directory as the user wrote it.
        only: the pattern for functions, if one was given.
    """
    if not summary.places and not summary.unfinished:
        return ["nothing was compiled: no process of the program imported torch._dynamo"]
    verdict = _clean(summary) or f"worth a look: {_worth(summary)}"
    return [
        _compiled(summary, only),
        verdict,
        *_first_findings(summary, called),
        f"in {_where(summary, directory, called)}",
    ]


def _clean(summary: Summary) -> str:
    """Return the verdict on a run in which nothing needs a change, or ""."""
    bad = summary.given_up or summary.failed_calls or summary.unproven or summary.problems or summary.unfinished
    findings = merged(summary.findings)
    if bad or not summary.with_code or _urgent(findings):
        return ""
    breaks = str(break_count(summary.breaks)) if summary.breaks else "no graph break"
    recompiles = counted(summary.recompiles, "recompile") if summary.recompiles else "no recompile"
    # Each finding of such a run says why its compiles are expected.
    is_expected = 0 < summary.recompiles <= sum(finding.cost.compiles for finding in findings)
    seconds, which = summary.slowest
    slowest = f"; the slowest compile took {seconds:.1f} s, {which}" if seconds >= SLOWEST_AT_LEAST else ""
    return f"nothing needs a change: {breaks}, {recompiles}{' (expected)' if is_expected else ''}{slowest}"


def _first_findings(summary: Summary, called: Path) -> list[str]:
    """Return the first findings of all processes, one line each, without duplicates, and the number of the others."""
    findings = merged(summary.findings)
    urgent = _urgent(findings)
    more = len(urgent) - MOST_FINDINGS
    lines = [f"  {number}. {finding.line}" for number, finding in enumerate(urgent[:MOST_FINDINGS], start=1)]
    expected = len(findings) - len(urgent)
    rest = [counted(more, "more finding")] if more > 0 else []
    rest += [f"{counted(expected, 'finding')} that need{'s' if expected == 1 else ''} no change"] if expected else []
    return lines + ([f"  and {', '.join(rest)}: depyf show {called}"] if rest else [])


def measured(summary: Summary, settings: Settings) -> Iterator[str]:
    """Yield what the run measured in each process: the most expensive lines, and where compile time went."""
    for folder in summary.places:
        is_one = len(summary.places) == 1
        profile = read_profile(folder) if settings.profile else None
        if profile is not None:
            if not is_one:
                yield f"depyf: {folder.name}:"
            yield from most_expensive(profile)
        times = read_times(folder) if settings.compile_times else None
        if times is not None:
            yield from compile_times_text(times, "" if is_one else f" of {folder.name}")


def _compiled(summary: Summary, only: str) -> str:
    processes = len(summary.places) + len(summary.unfinished)
    where = f" in {processes} processes" if processes > 1 else ""
    without = summary.compiles - summary.given_up - summary.with_code
    failed = f"{counted(summary.given_up, 'compile')} failed, " if summary.given_up else ""
    failed += f"{counted(without, 'compile')} ended without code, " if without and summary.with_code else ""
    proven = (
        f"all but {summary.unproven} proven" if summary.unproven else "the others proven" if failed else "all proven"
    )
    proven = failed + (proven if summary.with_code else "nothing was compiled successfully")
    those = f" that match --only {only}" if only else ""
    counts = f"{counted(summary.compiles, 'compile')} of {counted(summary.functions, 'function')}{those}{where}"
    return f"{counts}, {summary.seconds:.1f} s, {proven}" if summary.compiles else counts


def _worth(summary: Summary) -> str:
    (seconds, which), unfinished = summary.slowest, len(summary.unfinished)
    words = [
        str(break_count(summary.breaks)) if summary.breaks else "",
        counted(summary.recompiles, "recompile") if summary.recompiles else "",
        f"{counted(summary.given_up, 'frame')} given up" if summary.given_up else "",
        f"{counted(summary.failed_calls, 'call')} failed in compiled code" if summary.failed_calls else "",
        f"{counted(summary.unproven, 'compile')} not proven" if summary.unproven else "",
        f"{seconds:.1f} s for compile {which}" if seconds >= SLOWEST_AT_LEAST else "",
        f"{counted(summary.problems, 'error')} inside depyf" if summary.problems else "",
        f"{counted(unfinished, 'process', 'processes')} ended before writing everything" if unfinished else "",
    ]
    urgent = _urgent(merged(summary.findings))
    nothing = "nothing" if summary.compiles else "nothing was compiled, and index.md has the usual reasons"
    return ", ".join(word for word in words if word) or (counted(len(urgent), "finding") if urgent else nothing)


def _urgent(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings that need a change."""
    return [finding for finding in findings if finding.severity != "low"]


def _where(summary: Summary, directory: Path, called: Path) -> str:
    index = str(called / "index.md") if (directory / "index.md").exists() else str(called)
    places = [place for place in (*summary.places, *summary.unfinished) if place != directory]
    others = [place.relative_to(directory).as_posix() for place in places]
    return f"{index}, and in {', '.join(others)}" if others else index
