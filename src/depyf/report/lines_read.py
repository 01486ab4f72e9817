"""What became of the lines that Dynamo read in a compile. Plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LinesRead:
    """A function that Dynamo read in a compile, itself or inlined: its lines that do something, by number.

    `in_graphs` are those that operations of the captured graphs come from, their own or those of what they call;
    `read` all that Dynamo came to. Torch's own functions are left out.
    """

    name: str
    filename: str
    first_line: int
    lines: tuple[int, ...]
    in_graphs: tuple[int, ...]
    read: tuple[int, ...]
