"""The trace file from which a run was read."""

from __future__ import annotations

from depyf.bytecode.records import dataclass
from depyf.model.codec import INTEGER, NUMBER, TEXT, Record, Row, mapping


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


TRACE_ROWS = Record(
    TraceFile,
    Row("file", TEXT, "name"),
    Row("size", INTEGER, about="Bytes."),
    Row("records", INTEGER),
    Row("omitted", mapping(INTEGER), about="The number of records that were left out or are doubtful, by cause."),
    Row("last", TEXT, about="The subject of the last record."),
    Row("seconds", NUMBER),
)
