"""Write the dump of a trace file: the files that a capture of the program would write, as far as the trace allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import BinaryIO

from depyf.bytecode.records import dataclass
from depyf.findings import findings
from depyf.model.claims import FOLDER
from depyf.model.index_json import index_parts
from depyf.model.run import Problem, Session
from depyf.model.trace_file import TraceFile
from depyf.model.writer import INDEX, write_whole
from depyf.trace.directory import Dump, Numbers
from depyf.trace.events import WANTED
from depyf.trace.log import LogJoin
from depyf.trace.reader import Cause, Reader, Record
from depyf.views.index_markdown import index_markdown

SKIPPED = (b'{"chromium_event"', b'{"describe_storage"', b'{"describe_tensor"', b'{"describe_source"')
"""Records that a report does not need: torch's timeline, and the ids of tensors."""
MOST_PROCESSES = 64
"""The most processes in one file that are distinguished. A damaged file may name any number."""
UNKNOWN = "unknown"


@dataclass(slots=True)
class _Problems:
    session: Session

    def add(self, where: str, error: BaseException) -> None:
        self.session.problems.append(Problem(where, f"{type(error).__name__}: {error}"))


@dataclass(slots=True)
class _Joins:
    """The processes that wrote a file, each with its join."""

    directory: Path
    by_process: dict[int, LogJoin] = field(default_factory=dict)

    def of(self, process: int) -> LogJoin:
        """Return the join of a process. The first process has the directory, others a folder in it."""
        join = self.by_process.get(process)
        if join is None and len(self.by_process) >= MOST_PROCESSES:
            return next(reversed(self.by_process.values()))
        if join is None:
            number = len(self.by_process)
            directory = self.directory / FOLDER.format(number + 1) if number else self.directory
            session = Session(UNKNOWN, UNKNOWN)
            session.directory = str(directory)
            join = self.by_process[process] = LogJoin(session, Dump(directory, _Problems(session), Numbers()))
        return join


def dump_trace(stream: BinaryIO, name: str, directory: Path) -> list[Session]:
    """Write the dump of a trace that is open for reading bytes; return the run of each process in it.

    Args:
        stream: the trace.
        name: its name, for the index.
        directory: the directory of the dump.

    Raises:
        OSError: the trace cannot be read, or the index cannot be written.
    """
    reader, joins = Reader(SKIPPED, WANTED), _Joins(directory)
    for record in reader.read(stream):
        _take(joins.of(record.process), record, reader)
    if not joins.by_process:
        joins.of(0)
    sessions = []
    for join in joins.by_process.values():
        join.end()
        session = join.session
        omitted = {cause.value: count for cause, count in reader.omitted.items()}
        session.trace = TraceFile(name, reader.size, reader.records, omitted, join.last_record, join.seconds)
        _write(session)
        sessions.append(session)
    return sessions


def _take(join: LogJoin, record: Record, reader: Reader) -> None:
    try:
        join.take(record)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError):
        reader.omitted[Cause.NOT_UNDERSTOOD] += 1


def _write(session: Session) -> None:
    directory = Path(session.directory)
    session.findings = findings(session)
    write_whole(directory / INDEX, index_parts(session, session.findings))
    write_whole(directory / "index.md", index_markdown(session))


def lines_of(trace: TraceFile) -> Iterator[str]:
    """Yield lines about a file for the reader: its size, and what could not be read."""
    yield f"{trace.name}: {trace.records} records in {trace.size / 1e6:.1f} MB, {trace.seconds:.1f} s"
    for cause, count in trace.omitted.items():
        yield f"{count} {cause}"
