"""Note in a dump what was tried for its findings, so that every view of the dump shows it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from depyf.findings import findings
from depyf.fix.search import DIFFERS, HARMS, HELPS, NO_EFFECT, NOT_NEEDED, TRADES, Result, Tried
from depyf.model.claims import own_process
from depyf.model.index_json import index_json
from depyf.model.index_reader import load_index, read_run
from depyf.model.writer import INDEX
from depyf.views.index_markdown import index_markdown

_BEST = (HELPS, NOT_NEEDED, TRADES, NO_EFFECT, HARMS, DIFFERS)
"""The states of an edit, the best first. An edit that is not applicable says nothing."""


def results(result: Result) -> dict[tuple[str, str], str]:
    """Return the result of the best edit for each finding, by the finding's kind and place."""
    best: dict[tuple[str, str], Tried] = {}
    for tried in result.tried:
        if tried.state in _BEST and (tried.finding not in best or _rank(tried) < _rank(best[tried.finding])):
            best[tried.finding] = tried
    return {finding: _words(tried) for finding, tried in best.items()}


def _rank(tried: Tried) -> tuple[bool, int]:
    return not tried.is_kept, _BEST.index(tried.state)


def _words(tried: Tried) -> str:
    what = tried.edit.what
    same = tried.same.words if tried.same is not None else ""
    if tried.state == DIFFERS:
        return f"{what}: {same}, so it was dropped"
    if tried.state == NO_EFFECT:
        return f"{what}: no effect alone" + (f", needed by the others, {same}" if tried.is_kept else "")
    if tried.state in (TRADES, HARMS) and not tried.is_kept:
        return f"{what}: {tried.words}, so it was dropped"
    return f"{what}: {tried.words}, {same}"


def note(directory: Path, result: Result) -> bool:
    """Write what was tried into the index and the pages of a dump; return whether a finding of it is concerned.

    Raises:
        OSError: the directory has no index, or cannot be written.
        ValueError: the index is not depyf's.
    """
    run, index = read_run(directory), load_index(directory)
    session = run.session
    tried = results(result)
    session.tried = {
        (finding.kind, str(finding.where)): tried[finding.kind, str(finding.where)]
        for finding in findings(session)
        if (finding.kind, str(finding.where)) in tried
    }
    if not session.tried:
        return False
    noted = findings(session)
    ours, theirs = (f'"process": {json.dumps(process)}' for process in (own_process(), index["process"]))
    written = index_json(session, noted).replace(ours, theirs, 1)
    _replace(directory / INDEX, written)
    _replace(directory / "index.md", index_markdown(session))
    return True


def _replace(path: Path, text: str) -> None:
    """Write a file whole, so that a reader never sees a part of it."""
    expansion = path.with_name(f".{path.name}.{os.getpid()}")
    expansion.write_text(text, encoding="utf-8")
    expansion.replace(path)
