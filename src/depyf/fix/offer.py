"""Count what `depyf fix` would try for the findings of a dump, without a run of the program."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from depyf.findings import findings
from depyf.fix.edit import Edit, RefusedError
from depyf.fix.search import proposed
from depyf.fix.trees import parsed
from depyf.model.index_reader import read_run


@dataclass(frozen=True)
class Offer:
    """The number of edits that can be tried, and of the findings that they are for."""

    edits: int = 0
    findings: int = 0


def offer(directories: Iterable[Path], beside: Iterable[Path]) -> Offer:
    """Return what can be tried for the findings of some dumps that need a change, each edit and each finding once.

    beside: the directories from which the dumps name the user's files.
    """
    places = list(beside)
    edits: set[tuple[str, int, str]] = set()
    concerned: set[tuple[str, str]] = set()
    for directory in directories:
        run = read_run(directory)
        for finding in findings(run.session):
            if finding.severity == "low":
                continue
            keys = {edit.key for edit in proposed(run, finding) if _applies(edit, places)}
            edits |= keys
            concerned |= {(finding.kind, str(finding.where))} if keys else set()
    return Offer(len(edits), len(concerned))


def _applies(edit: Edit, beside: list[Path]) -> bool:
    """Return whether the user's file is there and the preconditions of an edit hold in it."""
    for folder in beside:
        path = folder / edit.file
        if path.is_file():
            with suppress(RefusedError):
                edit.apply(parsed(path), edit.line)
                return True
            return False
    return False
