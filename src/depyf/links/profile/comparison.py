"""Find the lines that got slower from one profile to another, by more than the steps of either vary."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.links.profile.text import duration

SPREADS = 3.0
"""The number of standard deviations of a step by which a line must be slower."""
LEAST = 0.01
"""The fraction of the step by which it must also be slower."""

Lines = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Slower:
    """A line, or a set of lines, that got slower: seconds per step before and after, and of the noise."""

    place: str
    text: str
    before: float
    after: float
    noise: float

    def __str__(self) -> str:
        what = f"{self.place}  {self.text}".rstrip()
        return (
            f"{what}: {duration(self.before)} before, {duration(self.after)} now "
            f"(+{duration(self.after - self.before)}, noise {duration(self.noise)})"
        )


def slower(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Slower]:
    """Return what got slower from one `profile.json` to another, worst first. Lines are matched by their text."""
    before, after = _rows(old), _rows(new)
    slower_rows = []
    for key, row in after.items():
        known = before.get(key)
        seconds, spread = (known["seconds"], known["spread"] or 0.0) if known is not None else (0.0, 0.0)
        noise = SPREADS * math.hypot(spread, row["spread"] or 0.0)
        if row["seconds"] - seconds > max(noise, LEAST * new["step"]["seconds"]):
            place, text = f"{row['file']}:{row['line']}", row["text"]
            more = len(row["set"]) - 1
            text += f" and {more} lines computed with it" if more > 0 else ""
            slower_rows.append(Slower(place, text, seconds, row["seconds"], noise))
    return sorted(slower_rows, key=lambda row: row.before - row.after)


def _rows(profile: Mapping[str, Any]) -> dict[tuple[Lines, int], Mapping[str, Any]]:
    """Return the rows by the texts of their lines, and by their position among rows with the same texts."""
    rows_by_text: dict[tuple[Lines, int], Mapping[str, Any]] = {}
    for row in sorted(profile["lines"], key=lambda row: row["line"]):
        lines = tuple(sorted((line["file"], line["text"]) for line in row["set"] or [row]))
        number = 0
        while (lines, number) in rows_by_text:
            number += 1
        rows_by_text[lines, number] = row
    return rows_by_text
