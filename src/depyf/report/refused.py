"""Why an entry refused a call, taken apart: what was looked at, what was expected, what was there."""

from __future__ import annotations

import re
from dataclasses import dataclass

from depyf.report.model import Refusal

_EXPLAINED = re.compile(
    r"(?P<subject>.*?): expected (?P<expected>.*), got (?P<actual>.*?)(?:  \((?P<where>\S*:\d+(?: .*)?)\))?$",
    re.DOTALL,
)
_MISMATCH = re.compile(
    r"tensor '(?P<subject>.*?)' (?P<aspect>\w+) mismatch.*?expected (?P<expected>.*?), actual (?P<actual>.*)"
)
_ASPECT = re.compile(r"(?P<aspect>[a-z_ ]+) of (?P<source>.+)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Refused:
    """One respect in which a call was not what an entry expects; what is not known of it is empty.

    aspect: `size`, `dtype`, ..., empty for a value as a whole. where: the user's line that needs it, as text.
    """

    entry: str
    source: str
    aspect: str
    expected: str
    actual: str
    where: str
    text: str


def refused(refusal: Refusal) -> list[Refused]:
    """Return every respect in which an entry refused, those that torch alone names where no others are known."""
    return [_read(refusal.entry, text) for text in refusal.explained or refusal.clauses]


def _read(entry: str, text: str) -> Refused:
    found = _EXPLAINED.match(text) or _MISMATCH.match(text)
    if found is None:
        return Refused(entry, "", "", "", "", "", text)
    parts = found.groupdict()
    aspect = _ASPECT.match(parts["subject"])
    return Refused(
        entry=entry,
        source=aspect["source"] if aspect else parts["subject"],
        aspect=aspect["aspect"] if aspect else parts.get("aspect") or "",
        expected=parts["expected"],
        actual=parts["actual"],
        where=parts.get("where") or "",
        text=text,
    )
