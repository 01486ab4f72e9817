"""The trace file that a run was read from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TraceFile:
    """The file that a run was read from: its name, its size in bytes, and what was left out of it, by cause.

    `last` is what the last record was about; `seconds` the time from the first record to the last.
    """

    name: str
    size: int
    records: int
    omitted: dict[str, int]
    last: str
    seconds: float
