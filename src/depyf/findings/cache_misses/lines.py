"""The difference between two texts of a key, as one cause."""

from __future__ import annotations

import difflib
import re

from depyf.bytecode.records import dataclass

MOST_LINES = 8
"""The most differing lines of a graph that are shown."""

_COMMENT = re.compile(r"\s*#.*$|;\s+(?:\w+ = )+None$")
"""The end of a line of a graph: a comment, or variables that are no longer needed."""
LONGEST = 120
"""The longest line that is shown in full, in characters."""

_ITEM = re.compile(r"[^,]+")
_NAMES = re.compile(r"\s*(?:async )?def \w+\(|\s*(?:extern \"C\"|void|static) .*\(")
"""The first line of a function, whose name depends on its content."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One difference between two keys: its kind, a description, both values, and its consequences.

    details: the lines that differ, for text.
    follows: the names of other components that differ, possibly because of this one.
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
    """Return the first significant line in which two texts differ. C++ has no comments that begin with `#`.

    Args:
        kind: the kind of the cause, for example `graph` or `config`.
        what: the subject of the cause in words.
        before: the text in the earlier key.
        after: the text in the key that missed.
        is_python: whether lines that begin with `#` are comments.
    """
    old, other = _lines(before, is_python=is_python), _lines(after, is_python=is_python)
    diff = list(difflib.unified_diff(old, other, lineterm="", n=0))[2:]
    details = tuple(line for line in diff if not line.startswith("@@"))[:MOST_LINES]
    pairs = [(a, b) for a, b in zip(old, other) if a != b] if len(old) == len(other) else []
    if pairs:
        a, b = next((pair for pair in pairs if not _NAMES.match(pair[0])), pairs[0])
        return Cause(kind, what, *_trimmed(a.strip(), b.strip()), details)
    gone, come = (_first([line[1:] for line in diff if line[:1] == sign]) for sign in "-+")
    return Cause(kind, what, gone, come, details)


def _trimmed(left: str, other: str) -> tuple[str, str]:
    """Return two lines, with long lines cut around their difference."""
    parts = [_ITEM.findall(line) for line in (left, other)]
    if max(len(left), len(other)) > LONGEST and len(parts[0]) == len(parts[1]):
        differ = [pair for pair in zip(*parts) if pair[0] != pair[1]]
        left, other = (", ".join(item.strip() for item in side) for side in zip(*differ))
    return f"`{short(left)}`", f"`{short(other)}`"


def pairs_of(before: str, after: str) -> list[tuple[str, str]]:
    """Return the pairs of corresponding lines if lines were only changed, and none added or removed."""
    old, other = _lines(before), _lines(after)
    return [(a, b) for a, b in zip(old, other) if a != b] if len(old) == len(other) else []


def short(value: str) -> str:
    """Return a value in one short line."""
    line = " ".join(value.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..."


def _first(lines: list[str]) -> str:
    differing = next((line.strip() for line in lines if not _NAMES.match(line)), lines[0].strip() if lines else "")
    return f"`{differing}`" if differing else "no such line"


def _lines(text: str, *, is_python: bool = True) -> list[str]:
    shown = (_COMMENT.sub("", line) if is_python else line for line in text.splitlines())
    return [line for line in (line.rstrip() for line in shown) if line]
