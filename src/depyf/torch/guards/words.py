"""Parse torch's text of a guard: `check, padded  # the user's line  # file.py:5 in fn (HINT: ...)`."""

from __future__ import annotations

import re
from functools import lru_cache

from depyf.bytecode.patterns import pattern
from depyf.model.user_line import UserLine

_WHERE = pattern(r"#\s+(?P<file>[^#]+?):(?P<line>\d+) in (?P<function>\S+)")
_HINT = pattern(r" \(HINT: .*\)$", re.DOTALL)


def expression(part: str) -> str:
    """Return the check in `part` without torch's comment and hint."""
    hinted = _HINT.sub("", part) if " (HINT: " in part else part
    return hinted.split("  # ", 1)[0].strip()


def user_line(part: str, filename: str = "") -> UserLine | None:
    """Return the user's line that `part` names, or None if it is Dynamo's own line.

    `filename` is the file of the compiled function, whose path torch shortens.
    """
    check, mark, words = part.partition("  # ")
    return _named_line(f"{mark}{words}" if mark else check, filename)


@lru_cache(maxsize=1024)
def _named_line(part: str, filename: str) -> UserLine | None:
    """Return the user's line in a text without the check. Cached, because many guards share it."""
    where = next(reversed(list(_WHERE.finditer(part))), None)
    if where is None or "_dynamo/" in where["file"]:
        return None
    named = where["file"].strip()
    path = filename if filename.endswith(named.rsplit("/", 1)[-1]) and filename else named
    before = part[: where.start()].split("  # ", 1)
    return UserLine(path, int(where["line"]), before[1].strip() if len(before) == 2 else "", where["function"])
