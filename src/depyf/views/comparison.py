"""Compare two runs of a program: graphs, guards, breaks, recompiles and kernels, function by function."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import TypeAlias

from depyf.bytecode.records import dataclass
from depyf.findings.reasons import failure_words
from depyf.links.documents import LEADING
from depyf.model.artifacts.graph_source import SAYS_PLACE
from depyf.model.index_reader import Run
from depyf.model.names import without_count
from depyf.model.run import Compile, Dialect, Function, GuardSet, Recompile, Session

ASPECTS = ("functions", "recompiles", "breaks", "guards", "graphs", "kernels", "times")
"""The aspects that are compared, in the order of the output."""

Key: TypeAlias = tuple[str, int, int]
"""A function in both runs, the number of its resume function (0 for none), and the number of its compile."""

_COUNTED = re.compile(r"(__compiled_fn|__resume_at_\d+|\[Provenance debug handles\] \S+?:)_?\d+")
_PLACE = re.compile(rf"({SAYS_PLACE}).*?:\d+ in ")
_RESUMED = re.compile(r"\b(torch_dynamo_resume_in_\w+?)_at_\d+\b")
_NEEDED_AT = re.compile(r"(?<=  \()([^\s:()]*):\d+ (?=.*\)$)")
_OF_A_RUN = re.compile(
    r"^# (AOT ID|kernel path: |[A-Z][\w ]* (of __compiled_fn|in .*, compile [\d/#!]+$))"
    r"|^\s*#include \"/.*/\w\w/\w+\.h\"$"
)
"""Lines that belong to one run only. The path of a kernel or of torch's header is in the run's cache."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: its subject, its aspect, a line about it, and details below."""

    subject: str
    aspect: str
    text: str
    details: tuple[str, ...] = ()


def changes(old: Run, new: Run) -> list[Change]:
    """Return the differences between two runs. Times and places are ignored."""
    names = _matched(old.session, new.session)
    before, after = (_entries(run, names_of_run) for run, names_of_run in zip((old, new), names, strict=True))
    differences = []
    for key in dict.fromkeys((*before, *after)):
        if key not in after:
            differences.append(Change(_subject(*before[key]), *_alone("no more", before[key])))
        elif key not in before:
            differences.append(Change(_subject(*after[key]), *_alone("new", after[key])))
        else:
            differences += _between(old, new, before[key], after[key])
    return differences


Entry: TypeAlias = tuple[Function, Compile]


def _matched(*sessions: Session) -> list[dict[str, str]]:
    """Return a common name for each function of two runs, by key.

    Functions with the same name and file are matched in order. The rest is matched by name only, because a file may
    have moved.
    """
    left = [list(session.roots()) for session in sessions]
    names: list[dict[str, str]] = [{} for _ in sessions]
    for name_of in (_name_and_file, _name):
        known = [_numbered(functions, name_of) for functions in left]
        both = set(known[0]).intersection(*known[1:])
        for names_of_run, named in zip(names, known, strict=True):
            names_of_run.update((function.key, name) for name, function in named.items() if name in both)
        left = [
            [function for function in functions if function.key not in known_names]
            for known_names, functions in zip(names, left, strict=True)
        ]
    for number, functions in enumerate(left):
        names[number].update((function.key, f"{function.key} of run {number}") for function in functions)
    return names


def _numbered(functions: list[Function], name_of: Callable[[Function], str]) -> dict[str, Function]:
    counts: Counter[str] = Counter()
    numbered: dict[str, Function] = {}
    for function in functions:
        name = name_of(function)
        numbered[f"{name} {counts[name]}"] = function
        counts[name] += 1
    return numbered


def _name_and_file(function: Function) -> str:
    return f"{function.name}, {PurePosixPath(function.filename).name}"


def _name(function: Function) -> str:
    return function.name


def _entries(run: Run, names: Mapping[str, str]) -> dict[Key, Entry]:
    entries: dict[Key, Entry] = {}
    for root in run.session.roots():
        for place, function in enumerate((root, *run.session.resumes_of(root))):
            for number, compiled in enumerate(function.compiles):
                entries[(names[root.key], place, number)] = (function, compiled)
    return entries


def _subject(function: Function, compiled: Compile) -> str:
    line = function.resumes_at or function.first_line
    return f"{function.name}, {function.filename}:{line}, compile {compiled.id}"


def _alone(word: str, entry: Entry) -> tuple[str, str, tuple[str, ...]]:
    trigger = entry[1].trigger
    if not isinstance(trigger, Recompile):
        return "functions", f"{word}: it is compiled in only one of the runs", ()
    words = [failure_words(failure, entry[0]) for failed in trigger.entries for failure in failed.failures]
    return "recompiles", f"{word}: a recompile", tuple(words)


def _between(old: Run, new: Run, before: Entry, after: Entry) -> Iterator[Change]:
    subject = _subject(*after)
    old_compile, other = before[1], after[1]
    is_traced = old.session.trace is not None or new.session.trace is not None
    reasons = (_reasons(*entry, in_torchs_words=is_traced) for entry in (before, after))
    yield from _changed_lines(subject, "recompiles", *reasons)
    yield from _changed_lines(subject, "breaks", _breaks(old_compile), _breaks(other))
    if not is_traced:
        # A trace has no guards, only torch's text of them.
        yield from _changed_lines(subject, "guards", _guards(old_compile), _guards(other))
    for aspect, dialect in (("graphs", Dialect.GRAPH), ("kernels", Dialect.KERNEL)):
        yield from _changed_texts(subject, aspect, _texts(old, old_compile, dialect), _texts(new, other, dialect))


def _changed_lines(subject: str, aspect: str, old_lines: list[str], other: list[str]) -> Iterator[Change]:
    gone, come = Counter(old_lines) - Counter(other), Counter(other) - Counter(old_lines)
    if gone or come:
        details = (*(f"- {line}" for line in gone.elements()), *(f"+ {line}" for line in come.elements()))
        yield Change(subject, aspect, f"{gone.total()} gone, {come.total()} new", details)


def _changed_texts(
    subject: str, aspect: str, old_texts: dict[str, list[str]], other: dict[str, list[str]]
) -> Iterator[Change]:
    for stage in dict.fromkeys((*old_texts, *other)):
        if stage not in old_texts or stage not in other:
            if stage.split()[0] not in LEADING:
                # Graphs from Inductor's cache did not pass through its passes, so they have no such artefacts.
                continue
            yield Change(subject, aspect, f"{stage}: {'new' if stage in other else 'no more'}")
        elif old_texts[stage] != other[stage]:
            steps = list(difflib.unified_diff(old_texts[stage], other[stage], lineterm="", n=0))[2:]
            details = tuple(step for step in steps if not step.startswith("@@"))
            gone = sum(detail.startswith("-") for detail in details)
            lines = "line" if gone == 1 else "lines"
            yield Change(subject, aspect, f"{stage}: {gone} {lines} gone, {len(details) - gone} new", details)


def _reasons(function: Function, compiled: Compile, *, in_torchs_words: bool) -> list[str]:
    trigger = compiled.trigger
    entries = trigger.entries if isinstance(trigger, Recompile) else ()
    if in_torchs_words:
        return [without_counts(clause) for failed in entries for clause in failed.clauses]
    return [without_counts(failure_words(failure, function)) for failed in entries for failure in failed.failures]


def _breaks(compiled: Compile) -> list[str]:
    broken = [
        f"{graph_break.reason} at {graph_break.where.text if graph_break.where else '?'}"
        for graph_break in compiled.breaks
    ]
    return broken + ([f"given up: {compiled.failure.summary}"] if compiled.failure else [])


def _guards(compiled: Compile) -> list[str]:
    guards = compiled.guards.guards if isinstance(compiled.guards, GuardSet) else ()
    return [without_counts(guard.clause) for guard in guards]


def _texts(run: Run, compiled: Compile, dialect: Dialect) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for artefact in compiled.artefacts:
        # A trace has the graphs of attempts that Dynamo abandoned.
        is_last = run.session.trace is None or artefact.attempt == compiled.attempts - 1
        if artefact.dialect is dialect and artefact.file and is_last:
            stage = f"{artefact.stage} {artefact.part}".strip()
            texts.setdefault(_free(stage, texts.__contains__), list(_lines(run.text(artefact.file))))
    return texts


def _free(stage: str, is_taken: Callable[[str], bool]) -> str:
    number, name = 1, stage
    while is_taken(name):
        number += 1
        name = f"{stage} {number}"
    return name


def _lines(text: str) -> Iterable[str]:
    return (without_counts(line) for line in text.splitlines() if not _OF_A_RUN.match(line))


def without_counts(line: str) -> str:
    """Return a line without the parts that differ from run to run: counters of the process, files, and line numbers."""
    without_numbers = _RESUMED.sub(r"\1", _COUNTED.sub(r"\1", without_count(line)))
    return _NEEDED_AT.sub(r"\1: ", _PLACE.sub(r"\1in ", without_numbers))
