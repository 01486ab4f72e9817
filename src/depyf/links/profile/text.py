"""The profile in a terminal: the ten most expensive lines, and where the rest of the step went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from depyf.links.profile.charges import WORDS
from depyf.model.counts import counted

MOST = 10
LEAST_SHARE = 0.01
"""Findings that cost at least this share of the step are shown."""
LINES = 3
"""The most lines of a group that are named."""
_MARGIN = " " * 21


def most_expensive(profile: Mapping[str, Any]) -> list[str]:
    """Return the most expensive lines of a step and its time by kind, from the content of `profile.json`."""
    if not profile["step"]["steps"]:
        why, *others = profile["notes"]
        return [f"depyf: no step was measured: {why}", *(f"  note: {note}" for note in others)]
    lines = [_head(profile["step"])]
    for row in profile["lines"][:MOST]:
        lines += _row(row)
    lines += [
        f"{_amount(finding['seconds'], finding['share'])}  {finding['cause']}. Fix: {finding['fix'] or 'none is known'}"
        for finding in profile["findings"]
        if finding["share"] >= LEAST_SHARE
    ]
    lines += _against_eager(profile)
    lines.append("  by kind:")
    whole = profile["step"]["seconds"]
    lines += [f"{_amount(seconds, seconds / whole)}  {WORDS[kind]}" for kind, seconds in profile["kinds"].items()]
    return lines + [f"  note: {note}" for note in profile["notes"]]


def _head(step: Mapping[str, Any]) -> str:
    bare = step["without_profiler"]
    profiler = f"; the profiler's own {duration(step['profiler'])} a step left out" if step["profiler"] else ""
    without = f", {duration(bare)} in steps without the profiler" if bare is not None else ""
    left = "".join(f"; left out: {count} that {why}" for why, count in step["left_out"].items())
    steps = f"{counted(step['steps'], 'step')} measured{profiler}{left}"
    return f"depyf: a step takes {duration(step['seconds'])}{without}{_extent(step)} ({steps})"


def _extent(step: Mapping[str, Any]) -> str:
    """Return from where to where a step lasts."""
    begin = step.get("begins_at")
    if begin is None:
        return ", as the program marks it"
    return f", from one call of `{begin['function']}` ({begin['file']}:{begin['line']}) to the next"


def _row(row: Mapping[str, Any]) -> list[str]:
    begin = _amount(row["seconds"], row["share"])
    if not row["set"]:
        return [f"{begin}  {_place(row)}  {row['text']}  ({row['kind']})"]
    lines = [f"{begin}  {len(row['set'])} lines computed together  ({row['kind']})"]
    return lines + [f"{_MARGIN}{_place(line)}  {line['text']}".rstrip() for line in row["set"]]


def _against_eager(profile: Mapping[str, Any]) -> list[str]:
    """Return the lines whose time compiling changed by more than noise and by at least `LEAST_SHARE` of a step."""
    least = LEAST_SHARE * profile["step"]["seconds"]
    changed = [
        entry
        for entry in profile.get("against_eager", ())
        if abs(entry["compiled"] - entry["eager"]) >= max(least, entry["noise"])
    ]
    lines = ["  against eager:"] if changed else []
    for entry in changed[:MOST]:
        change = entry["compiled"] - entry["eager"]
        word = "slower" if change > 0 else "faster"
        lines.append(
            f"  {duration(abs(change)):>9} {word}, {duration(entry['compiled'])} compiled and "
            f"{duration(entry['eager'])} eager: "
            + "; ".join(f"{_place(line)}  {line['text']}".rstrip() for line in entry["lines"][:LINES])
            + (f"; and {len(entry['lines']) - LINES} lines more" if len(entry["lines"]) > LINES else "")
        )
    return lines


def _amount(seconds: float, share: float) -> str:
    return f"  {duration(seconds):>9} {100 * share:5.1f} %"


def _place(line: Mapping[str, Any]) -> str:
    return f"{line['file']}:{line['line']}"


def duration(seconds: float) -> str:
    """Return a short duration for readers.

    >>> duration(1.5), duration(0.0123), duration(0.0000042)
    ('1.50 s', '12.30 ms', '4.2 us')
    """
    if abs(seconds) >= 1:
        return f"{seconds:.2f} s"
    return f"{1e3 * seconds:.2f} ms" if abs(seconds) >= 0.001 else f"{1e6 * seconds:.1f} us"
