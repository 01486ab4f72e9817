"""A line of the user's source, as plain data."""

from __future__ import annotations

from depyf.bytecode.records import dataclass


@dataclass(frozen=True, slots=True)
class UserLine:
    """A line of the user's source; `text` is empty if the file cannot be read."""

    filename: str
    line: int
    text: str = ""
    function: str = ""
