"""The output of `depyf fix --compile-time`: a table, a patch, and `savings.json`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from depyf.fix.savings import DIFFERS, HELPS, NO_GAIN, NOT_BEST, REFUSED, Savings, TriedSaving, is_better_first
from depyf.fix.savings_facts import Measured

SCHEMA = 1
WORDS = {
    HELPS: "kept",
    NO_GAIN: "no gain, dropped",
    NOT_BEST: "another edit saves more, dropped",
    DIFFERS: "dropped",
    REFUSED: "not applicable",
}


def lines(result: Savings, patch: str) -> Iterator[str]:
    """Yield the table of a search.

    patch: the path of the patch, or "" if nothing is kept.
    """
    yield f"run as it is: {_numbers(result.plain)}"
    for number, saving in enumerate(is_better_first(result.tried), start=1):
        yield f"  {number}. {os.path.relpath(saving.saving.file)}:{saving.saving.line}  {saving.saving.what}"
        yield f"     {saving.saving.why}"
        yield f"     {_said(saving, result.plain)}"
    if result.made is not None and result.same is not None:
        step = _step(result.made, result.plain)
        yield f"with the patch: {_numbers(result.made)}; {step}; {result.same.words}"
        yield f"patch: {patch}   (depyf fix --compile-time --apply writes it to your files)"
    elif not result.ended:
        yield "no edit saves compile time" if result.tried else "nothing in the compile times speaks for an edit"
    if result.ended:
        yield f"ended: {result.ended}"


def _said(tried: TriedSaving, plain: Measured) -> str:
    if tried.saved is None or tried.made is None:
        return f"{tried.words}; {WORDS[tried.state]}"
    text = f"predicted {_time(tried.saving.seconds)} less"
    if tried.state == DIFFERS:
        return f"{text}; {tried.words}; {WORDS[tried.state]}"
    start = " of a second start" if tried.saving.is_second_start else ""
    saved = f"{_time(abs(tried.saved))} {'less' if tried.saved >= 0 else 'more'}"
    text += f", measured {saved}{start}: {_time(tried.before)} -> {_time(tried.made.seconds)}"
    return f"{text}, {_step(tried.made, plain)}; {tried.words}; {WORDS[tried.state]}"


def _numbers(measured: Measured) -> str:
    if measured.outcome.problem:
        return measured.outcome.problem
    parts = [f"{_time(measured.seconds)} compiling"]
    if measured.cold is not None:
        parts.append(f"cold start {_time(measured.cold)}")
    if measured.step is not None:
        parts.append(f"a call {1e3 * measured.step:.2f} ms")
    return ", ".join(parts)


def _step(measured: Measured, plain: Measured) -> str:
    if measured.step is None or plain.step is None:
        return "step time unknown, as it makes fewer than 4 calls"
    return f"step time {measured.step / plain.step:.2f}"


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 10 else f"{seconds:.2f} s"


def data(result: Savings, patch: str) -> dict[str, Any]:
    """Return the content of `savings.json`; `docs/savings.schema.json` describes it."""
    return {
        "schema": SCHEMA,
        "plain": _run(result.plain),
        "made": _run(result.made) if result.made is not None else None,
        "results": result.same.words if result.same is not None else "",
        "tried": [_tried(tried_saving) for tried_saving in is_better_first(result.tried)],
        "patch": patch,
        "ended": result.ended,
    }


def _run(measured: Measured) -> dict[str, Any]:
    return {
        "compile_seconds": round(measured.seconds, 3),
        "cold_start_seconds": None if measured.cold is None else round(measured.cold, 3),
        "step_seconds": measured.step,
        "stages": {name: round(seconds, 3) for name, seconds in measured.stages().items()},
    }


def _tried(tried: TriedSaving) -> dict[str, Any]:
    saving = tried.saving
    return {
        "kind": saving.kind,
        "file": saving.file,
        "line": saving.line,
        "edit": saving.what,
        "fact": saving.why,
        "predicted_seconds": round(saving.seconds, 3),
        "measured_seconds": None if tried.saved is None else round(tried.saved, 3),
        "second_start": saving.is_second_start,
        "run": _run(tried.made) if tried.made is not None else None,
        "state": tried.state,
        "results": tried.words,
        "kept": tried.is_kept,
    }
