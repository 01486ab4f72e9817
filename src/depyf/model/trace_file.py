"""The trace file from which a run was read."""

from __future__ import annotations

from depyf.bytecode.records import dataclass


@dataclass(frozen=True, slots=True)
class TraceFile:
    """The file from which a run was read: its name, its size in bytes, and its unreadable records by cause.

    last: the subject of the last record.
    seconds: the time from the first record to the last.
    """

    name: str
    size: int
    records: int
    omitted: dict[str, int]
    last: str
    seconds: float
