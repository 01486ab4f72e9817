"""An edit of one file of the user's, and the reason why there is none."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from depyf.findings import Finding
from depyf.findings.events import Event, events
from depyf.model.index_reader import Run
from depyf.model.run import Compile
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_foreign, short_path


class RefusedError(Exception):
    """The preconditions of an edit do not hold. The message says which."""


@dataclass(frozen=True)
class Edit:
    """One change of one file.

    what: the change in words, for the table.
    subject: the finding that it is for, by kind and place; several edits may be for the same.
    apply: returns the module with the statement at `line` changed, or raises RefusedError.
    is_of_file: whether it is about the whole file, and not its line. It comes after the others then.
    moves_border: whether it gives `torch.compile` another function. Its calls are compared with the edited program
        without any compile, since the program as it is has no such calls.
    is_quiet: whether it is not mentioned if its preconditions do not hold: it is seldom the edit for its finding.
    in_root: returns the lines that must be of functions that `torch.compile` was given, or None if it does not matter.
        torch calls a report after the graph only from them: it loses those of functions that Dynamo inlines.
    is_offered: whether it changes what the program computes. It is shown, and never tried.
    """

    file: str
    line: int
    what: str
    subject: tuple[str, str]
    apply: Callable[[cst.Module, int], cst.Module]
    is_of_file: bool = False
    moves_border: bool = False
    is_offered: bool = False
    is_quiet: bool = False
    in_root: Callable[[cst.Module, int], list[int]] | None = None

    @property
    def key(self) -> tuple[str, int, str]:
        """Return what identifies it among the edits of a program."""
        return self.file, 0 if self.is_of_file else self.line, self.what

    @property
    def place(self) -> str:
        """Return its file and line."""
        name = short_path(self.file)
        return f"{name}:{self.line}" if self.line else name


Proposer = Callable[[Run, Finding], Iterator[Edit]]
"""Yields the edits that may remove a finding, the best first."""

PROPOSERS: list[Proposer] = []


def proposer(function: Proposer) -> Proposer:
    """Register a function that proposes edits."""
    PROPOSERS.append(function)
    return function


def event_of(run: Run, finding: Finding) -> Event | None:
    """Return the event of recompiles behind a finding, or None for another finding."""
    if finding.kind.startswith(("break-", "graph-break")):
        # A compile that breaks may be a recompile, too; that has a finding of its own.
        return None
    ids = set(finding.compiles)
    matching = (event for event in events(run.session) if ids & {str(compiled.id) for _, compiled in event.compiles})
    return next(matching, None)


def kinds_of(event: Event | None, finding: Finding) -> list[str]:
    """Return the kinds that a finding is about: its own, that of its cause, and those of what else differed."""
    cause = [event.cause.kind.name] if event is not None else []
    return list(dict.fromkeys((finding.kind, *cause, *(difference.kind for difference in finding.also))))


def call_of(compiled: Compile) -> UserLine | None:
    """Return the innermost line of the user's from which a compile was called, or None."""
    return next((user_line for user_line in reversed(compiled.user_stack) if not is_foreign(user_line.filename)), None)


def subject_of(finding: Finding) -> tuple[str, str]:
    """Return what identifies a finding in runs of the same program."""
    return finding.kind, str(finding.where)


def text_of(run: Run, file: str) -> str:
    """Return the text of a file of the user's, or "". The index may name it with another path."""
    sources = run.session.sources
    name = os.path.basename(file)
    paths = (
        [sources[file]] if file in sources else [path for key, path in sources.items() if os.path.basename(key) == name]
    )
    return run.text(paths[0]) if len(paths) == 1 else ""
