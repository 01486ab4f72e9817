"""In what two texts of a key differ, as one cause."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

MOST_LINES = 8
"""Lines of a graph that differ which are shown."""

_COMMENT = re.compile(r"\s*#.*$|;\s+(?:\w+ = )+None$")
"""What a line of a graph ends with beside what it computes: a comment, or values that are no longer needed."""
LONGEST = 120
"""Characters of a line that is shown whole."""

_ITEM = re.compile(r"[^,]+")
_NAMES = re.compile(r"\s*(?:async )?def \w+\(|\s*(?:extern \"C\"|void|static) .*\(")
"""Begins a function, whose name tells what is in it: another name follows from another line."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing in which two keys differ: its kind, what it is, both values, and what differs because of it.

    details: lines that differ, where it is text.
    follows: the names of components that differ too, and need not where this does not.
    """

    kind: str
    subject: str
    before: str
    after: str
    details: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return it in one line."""
        return f"{self.kind}: {self.subject}: {self.before} became {self.after}"


def of_lines(kind: str, what: str, before: str, after: str, *, is_python: bool = True) -> Cause:
    """Return the first line in which two texts differ that matters; C++ has no comments that begin with `#`."""
    one, other = _lines(before, is_python=is_python), _lines(after, is_python=is_python)
    diff = list(difflib.unified_diff(one, other, lineterm="", n=0))[2:]
    details = tuple(each for each in diff if not each.startswith("@@"))[:MOST_LINES]
    pairs = [(a, b) for a, b in zip(one, other) if a != b] if len(one) == len(other) else []
    if pairs:
        a, b = next((pair for pair in pairs if not _NAMES.match(pair[0])), pairs[0])
        return Cause(kind, what, *_trimmed(a.strip(), b.strip()), details)
    gone, come = (_first([each[1:] for each in diff if each[:1] == sign]) for sign in "-+")
    return Cause(kind, what, gone, come, details)


def _trimmed(one: str, other: str) -> tuple[str, str]:
    """Return two lines with what differs between them, and of long lines not much beside it."""
    parts = [_ITEM.findall(each) for each in (one, other)]
    if max(len(one), len(other)) > LONGEST and len(parts[0]) == len(parts[1]):
        differ = [pair for pair in zip(*parts) if pair[0] != pair[1]]
        one, other = (", ".join(each.strip() for each in side) for side in zip(*differ))
    return f"`{short(one)}`", f"`{short(other)}`"


def pairs_of(before: str, after: str) -> list[tuple[str, str]]:
    """Return the lines that stand for one another where only lines were changed, none added or taken away."""
    one, other = _lines(before), _lines(after)
    return [(a, b) for a, b in zip(one, other) if a != b] if len(one) == len(other) else []


def short(value: str) -> str:
    """Return a value in one line of some length."""
    line = " ".join(value.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..."


def _first(lines: list[str]) -> str:
    found = next((each.strip() for each in lines if not _NAMES.match(each)), lines[0].strip() if lines else "")
    return f"`{found}`" if found else "no such line"


def _lines(text: str, *, is_python: bool = True) -> list[str]:
    shown = (_COMMENT.sub("", each) if is_python else each for each in text.splitlines())
    return [line for line in (each.rstrip() for each in shown) if line]
