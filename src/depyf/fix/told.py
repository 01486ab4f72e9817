"""The output of `depyf fix`: a table, a patch, and `fix.json`."""

from __future__ import annotations

import difflib
import os
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from depyf.fix.counts import Counts, cost
from depyf.fix.search import (
    DIFFERS,
    HARMS,
    HELPS,
    NO_EFFECT,
    NOT_NEEDED,
    OFFERED,
    REFUSED,
    TRADES,
    Result,
    Tried,
    effect,
    left,
)
from depyf.fix.tries import Outcome
from depyf.model.counts import counted
from depyf.model.user_source import is_installed

SCHEMA = 1
LEAST_LONGER = 1e-3
"""The least seconds by which a call is longer, for the table to say so: the time of a short call varies."""
WORDS = {
    HELPS: "kept",
    NO_EFFECT: "dropped",
    NOT_NEEDED: "dropped",
    TRADES: "dropped, since it only trades one for the other",
    HARMS: "dropped",
    DIFFERS: "dropped",
    REFUSED: "not applicable",
    OFFERED: "not tried: choose it yourself",
}


def lines(result: Result, patch: str) -> Iterator[str]:
    """Yield the table of a search.

    patch: the path of the patch, or "" if nothing is kept.
    """
    yield f"run as it is: {_counts(result.plain)}"
    for number, tried in enumerate(result.tried, start=1):
        yield f"  {number}. {tried.edit.place}  {tried.edit.what}  {_said(tried)}"
    if result.patched is not None and result.same is not None:
        yield f"together: {_counts(result.patched, result.ratio)}; {result.same.words}"
        longer = (result.patched.step or 0.0) - (result.plain.step or 0.0)
        ratio = result.ratio if longer > LEAST_LONGER else None
        price = cost(result.plain.counts, result.patched.counts, ratio)
        if price:
            yield f"the price: {price}"
        yield f"patch: {patch}   (depyf fix --apply writes it to your files)"
    elif not result.ended:
        yield _nothing(result)
    if result.ended:
        yield f"ended: {result.ended}"
    remaining = left(result)
    if remaining:
        lines_of = ", with the lines of the edited files" if result.texts else ""
        yield f"still open: {counted(len(remaining), 'finding')}{lines_of}"
        for finding in remaining:
            yield f"  {finding.line}".replace(f"{Path.cwd()}{os.sep}", "")


def _nothing(result: Result) -> str:
    """Return why no edit is kept."""
    if result.tried:
        return "no edit helps"
    if left(result):
        return "no finding has an edit that can be tried"
    return "nothing to repair: no finding needs a change"


def _said(tried: Tried) -> str:
    if tried.is_kept:
        return f"{tried.words or 'needed by the others'}; {tried.same.words if tried.same else ''}; kept"
    words = f"{tried.state}; " if tried.state in (NO_EFFECT, NOT_NEEDED) else ""
    return f"{words}{tried.words + '; ' if tried.words else ''}{WORDS[tried.state]}"


def _counts(outcome: Outcome, ratio: float | None = None) -> str:
    """Return the numbers of a run in words.

    ratio: how many times faster a call is than in the program as it is, or None if it was not measured.
    """
    counts = outcome.counts
    step = outcome.step
    faster = f" ({ratio:.2f}x)" if ratio is not None else ""
    parts = [
        counted(counts.compiles, "compile"),
        counted(counts.breaks, "graph break"),
        *([counted(counts.failures, "failure")] if counts.failures else []),
        *_calls(counts),
        f"{counts.seconds:.1f} s compiling",
        *([f"a call {1e3 * step:.2f} ms{faster}"] if step is not None else []),
    ]
    return outcome.problem or ", ".join(parts)


def _calls(counts: Counts) -> Iterator[str]:
    """Yield the number of calls that compiled code served, or that ran eager where only that is known."""
    if counts.calls is not None:
        yield f"{counts.compiled} of {counted(counts.calls, 'call')} compiled"
    elif counts.eager:
        yield f"{counted(counts.eager, 'call')} eager"


def patch_of(result: Result, directory: Path) -> str:
    """Return the kept edits as a unified diff, with paths relative to a directory, or to that of installed packages."""
    return patch_of_texts(result.texts, directory)


def patch_of_texts(texts: Mapping[str, str], directory: Path) -> str:
    """Return a unified diff from files to texts by their paths.

    The diff has paths relative to a directory, or to the folder of installed packages.
    """
    parts: list[str] = []
    for path, text in sorted(texts.items()):
        packages = sysconfig.get_path("purelib")
        name = os.path.relpath(path, packages if is_installed(path) else directory)
        before = _rows(Path(path).read_bytes().decode("utf-8"))
        rows = difflib.unified_diff(before, _rows(text), f"a/{name}", f"b/{name}")
        parts += (row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)
    return "".join(parts)


def _rows(text: str) -> list[str]:
    """Return the lines of a text with their ends. `patch` ends a line at a newline alone."""
    rows = [f"{row}\n" for row in text.split("\n")]
    return [*rows[:-1], *([rows[-1][:-1]] if rows[-1] != "\n" else [])]


def data(result: Result, patch: str) -> dict[str, Any]:
    """Return everything as JSON; `docs/fix.schema.json` describes it."""
    patched = result.patched
    return {
        "schema": SCHEMA,
        "plain": _numbers(result.plain.counts) | {"step_seconds": result.plain.step},
        "together": None if patched is None else _numbers(patched.counts) | {"step_seconds": patched.step},
        "effect": "" if patched is None else effect(result.plain, patched),
        "results": "" if result.same is None else result.same.words,
        "step_ratio": result.ratio,
        "runs": result.runs,
        "tried": [
            {
                "file": tried.edit.file,
                "line": tried.edit.line,
                "edit": tried.edit.what,
                "finding": {"kind": tried.finding[0], "where": tried.finding[1]},
                "state": tried.state,
                "told": tried.words,
                "kept": tried.is_kept,
            }
            for tried in result.tried
        ],
        "left": [
            {"kind": finding.kind, "where": str(finding.where or ""), "line": finding.line} for finding in left(result)
        ],
        "patch": patch,
        "ended": result.ended,
    }


def _numbers(counts: Counts) -> dict[str, Any]:
    return {
        "compiles": counts.compiles,
        "breaks": counts.breaks,
        "eager_calls": counts.missed,
        "calls": counts.calls,
        "compiled_calls": None if counts.calls is None else counts.compiled,
        "failures": counts.failures,
        "compile_seconds": round(counts.seconds, 3),
    }
