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
    for folder in [directory, *(each for each in folders if each != directory)]:
        if has_index(folder) and changed_at(folder) >= since:
            _add(summary, folder, load_index(folder))
        elif any(path.stat().st_mtime >= since for path in folder.glob("__*.py")):
            summary.unfinished.append(folder)
    return summary


def _add(found: Summary, folder: Path, index: dict[str, Any]) -> None:
    (found.places if index["ended"] else found.unfinished).append(folder)
    session = session_of(index)
    found.functions += len(session.roots())
    found.problems += len(session.problems)
    found.findings += findings(session)
    for function, each in session.compiles():
        seconds, made = duration(each.seconds), each.transformed
        found.compiles += 1
        found.seconds += seconds
        found.breaks += places_of_breaks([each])
        found.recompiles += isinstance(each.trigger, Recompile)
        found.given_up += each.failure is not None
        found.failed_calls += sum(call_failure.times for call_failure in each.call_failures)
        found.with_code += isinstance(made, Transformed) and each.failure is None
        found.unproven += isinstance(made, Transformed) and made.level is Level.UNPROVEN
        name = title(session.functions[function.root])
        found.slowest = max(found.slowest, (seconds, f"{each.id} of {name}"))


def lines(found: Summary, directory: Path, called: Path, only: str = "") -> list[str]:
    """Return lines about the compiles, the findings, and the place of the files.

    called: the directory as the user wrote it.
    only: the pattern for functions, if one was given.
    """
    if not found.places and not found.unfinished:
        return ["nothing was compiled: no process of the program imported torch._dynamo"]
    told = [f"worth a look: {_worth(found)}", *_first_findings(found, called)]
    return [_compiled(found, only), *told, f"in {_where(found, directory, called)}"]


def _first_findings(found: Summary, called: Path) -> list[str]:
    """Return the first findings of all processes, one line each, without duplicates, and the number of the others."""
    findings = merged(found.findings)
    urgent = _urgent(findings)
    more = len(urgent) - MOST_FINDINGS
    lines = [f"  {number}. {finding.line}" for number, finding in enumerate(urgent[:MOST_FINDINGS], start=1)]
    expected = len(findings) - len(urgent)
    rest = [counted(more, "more finding")] if more > 0 else []
    rest += [f"{counted(expected, 'finding')} that need{'s' if expected == 1 else ''} no change"] if expected else []
    return lines + ([f"  and {', '.join(rest)}: depyf show {called}"] if rest else [])


def measured(found: Summary, settings: Settings) -> Iterator[str]:
    """Yield what the run measured in each process: the most expensive lines, and where compile time went."""
    for folder in found.places:
        is_one = len(found.places) == 1
        profile = read_profile(folder) if settings.profile else None
        if profile is not None:
            if not is_one:
                yield f"depyf: {folder.name}:"
            yield from most_expensive(profile)
        times = read_times(folder) if settings.compile_times else None
        if times is not None:
            yield from compile_times_text(times, "" if is_one else f" of {folder.name}")


def _compiled(found: Summary, only: str) -> str:
    processes = len(found.places) + len(found.unfinished)
    where = f" in {processes} processes" if processes > 1 else ""
    without = found.compiles - found.given_up - found.with_code
    failed = f"{found.given_up} failed, " if found.given_up else ""
    failed += f"{without} made no code, " if without and found.with_code else ""
    proven = f"all but {found.unproven} proven" if found.unproven else "the others proven" if failed else "all proven"
    proven = failed + (proven if found.with_code else "nothing was compiled successfully")
    those = f" that match --only {only}" if only else ""
    made = f"{counted(found.compiles, 'compile')} of {counted(found.functions, 'function')}{those}{where}"
    return f"{made}, {found.seconds:.1f} s, {proven}" if found.compiles else made


def _worth(found: Summary) -> str:
    (seconds, which), unfinished = found.slowest, len(found.unfinished)
    words = [
        str(break_count(found.breaks)) if found.breaks else "",
        counted(found.recompiles, "recompile") if found.recompiles else "",
        f"{counted(found.given_up, 'frame')} given up" if found.given_up else "",
        f"{counted(found.failed_calls, 'call')} failed in compiled code" if found.failed_calls else "",
        f"{counted(found.unproven, 'compile')} not proven" if found.unproven else "",
        f"{seconds:.1f} s for compile {which}" if seconds >= SLOWEST_AT_LEAST else "",
        f"{counted(found.problems, 'error')} inside depyf" if found.problems else "",
        f"{counted(unfinished, 'process', 'processes')} ended before writing everything" if unfinished else "",
    ]
    urgent = _urgent(merged(found.findings))
    return ", ".join(word for word in words if word) or (counted(len(urgent), "finding") if urgent else "nothing")


def _urgent(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings that need a change."""
    return [finding for finding in findings if finding.severity != "low"]


def _where(found: Summary, directory: Path, called: Path) -> str:
    own = str(called / "index.md") if (directory / "index.md").exists() else str(called)
    places = [place for place in (*found.places, *found.unfinished) if place != directory]
    others = [place.relative_to(directory).as_posix() for place in places]
    return f"{own}, and in {', '.join(others)}" if others else own
