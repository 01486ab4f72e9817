"""Write the timeline of traces in the format of Chrome's tracing, which ui.perfetto.dev opens.

Each rank is a process; of many ranks, each group of equal ones. The phases are torch's own events; for a release that
writes none, the compiles with their metrics. The recorder's collectives are threads below them, and align the clocks.
Recompiles, graph breaks, findings and differences between ranks are instant events.
The format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from depyf.bytecode.records import dataclass
from depyf.findings import Finding, findings
from depyf.model.index_reader import read_run
from depyf.trace import records, refusals, stages
from depyf.trace.job.files import Source, open_trace
from depyf.trace.job.groups import ranks_of
from depyf.trace.job.recorder import Recorded
from depyf.trace.job.reporting import Dumped
from depyf.trace.job.rows import collectives, rows_of
from depyf.trace.reader import Reader, Record

Event: TypeAlias = dict[str, Any]

_SKIPPED = (b'{"describe_storage"', b'{"describe_tensor"', b'{"describe_source"', b'{"str"')
_NUMBER = (int, float)


@dataclass(frozen=True, slots=True)
class Note:
    """A finding about a compile, shown at its start; without a compile, at the start of the trace."""

    compile: str
    kind: str
    cause: str


def write_timeline(
    sources: Sequence[Source], path: Path, jobs: Sequence[Dumped] = (), recorded: Sequence[Recorded] = ()
) -> None:
    """Write the timeline of all traces into a file, with the findings about them.

    Args:
        sources: the traces.
        path: the file to write.
        jobs: the dumps of the traces, with their findings.
        recorded: the collectives of the ranks. They align the clocks.

    Raises:
        OSError: a trace cannot be read, or the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit": "ms", "traceEvents": [\n')
        _write_all(sources, file, jobs, recorded)
        file.write("\n]}\n")


def _write_all(sources: Sequence[Source], file: TextIO, jobs: Sequence[Dumped], recorded: Sequence[Recorded]) -> None:
    separator, notes_of_dump = "", {}
    for job in jobs:
        for dump in dict.fromkeys(job.dumps.values()):
            notes_of_dump[dump] = tuple(
                Note(_first(finding), finding.kind, finding.cause) for finding in findings(read_run(dump).session)
            )
    differences = [(job, ranks_of(divergence.ranks), divergence) for job in jobs for divergence in job.divergences]
    dumps = {path: dump for job in jobs for path, dump in job.dumps.items()}
    for place, row in enumerate(rows_of(sources, recorded, dumps)):
        process = {"name": "process_name", "ph": "M", "pid": place, "tid": 0, "args": {"name": row.label}}
        drawn: Iterable[Event] = ()
        if row.source is not None:
            source, number = row.source, place if row.source.rank is None else row.source.rank
            notes = [note for job in jobs if source.path in job.dumps for note in notes_of_dump[job.dumps[source.path]]]
            notes += [
                Note(divergence.compile, f"rank differs: {divergence.kind}", divergence.cause)
                for job, ranks, divergence in differences
                if source.path in job.dumps and number in ranks
            ]
            drawn = map(row.corrected, events(source, place, notes))
        for event in (process, *drawn, *collectives(row, place)):
            file.write(separator + json.dumps(event))
            separator = ",\n"


def _first(finding: Finding) -> str:
    return finding.compiles[0] if finding.compiles else ""


@dataclass(slots=True)
class _Timeline:
    """The events of one process. `open` counts the unfinished phases, by thread."""

    process: int
    offset: float | None = None
    has_phases: bool = False
    open: dict[Any, int] = field(default_factory=dict)
    waiting: list[tuple[float, Event]] = field(default_factory=list)
    began: dict[str, list[float]] = field(default_factory=dict)
    first: float = 0.0


def events(source: Source, process: int, notes: Iterable[Note] = ()) -> Iterator[Event]:
    """Yield the events of a trace, with the number of its process in the timeline.

    Args:
        source: the trace.
        process: the number of its process in the timeline.
        notes: the findings and differences to show.
    """
    timeline = _Timeline(process)
    compiles: list[Event] = []
    with open_trace(source.path) as stream:
        for record in Reader(_SKIPPED).read(stream):
            kind, details = records.record_kind(record.metadata)
            timeline.first = timeline.first or record.seconds
            if kind == stages.FRAME_STARTS:
                timeline.began.setdefault(str(records.record_compile_id(record.metadata)), []).append(record.seconds)
            if kind == stages.TIMELINE:
                yield from _phase(timeline, record)
            elif kind == stages.FRAME_ENDS:
                compiles += _compile(timeline, details, record)
            elif (instant := _instant(kind, record)) is not None:
                timeline.waiting.append((record.seconds, instant))
    if not timeline.has_phases:
        yield from compiles
    timeline.waiting += [(_when(timeline, note), _shown(note)) for note in notes]
    for seconds, event in timeline.waiting:
        yield {**event, "pid": process, "tid": 0, "ts": (timeline.offset or 0.0) + seconds * 1e6}


def _when(timeline: _Timeline, note: Note) -> float:
    """Return when the compile of a note begins. torch reuses ids after a reset, which depyf counts."""
    compile_id, _, count = note.compile.partition("#")
    times = timeline.began.get(compile_id, [])
    return times[min(int(count or 1), len(times)) - 1] if times else timeline.first


def _shown(note: Note) -> Event:
    where = f" {note.compile}" if note.compile else ""
    return {"name": f"{note.kind}{where}", "ph": "i", "s": "p", "args": {"cause": note.cause}}


def _phase(timeline: _Timeline, record: Record) -> Iterator[Event]:
    try:
        event = json.loads(record.text or "")
    except ValueError:
        return
    if not isinstance(event, dict) or not isinstance(event.get("ts"), _NUMBER) or "ph" not in event:
        return
    timeline.offset = event["ts"] - record.seconds * 1e6
    thread = event.get("tid", 0)
    thread = thread if isinstance(thread, int) else 0
    depth = timeline.open.get(thread, 0)
    if event["ph"] == "E" and depth == 0:
        return  # Its start is in a missing part of the trace.
    timeline.open[thread] = depth + {"B": 1, "E": -1}.get(str(event["ph"]), 0)
    timeline.has_phases = True
    yield {**event, "pid": timeline.process, "tid": thread}


def _compile(timeline: _Timeline, metrics: Any, record: Record) -> Iterator[Event]:  # noqa: ANN401 - JSON
    began, spent = metrics.get("start_time"), metrics.get("entire_frame_compile_time_s")
    if not isinstance(began, _NUMBER) or not isinstance(spent, _NUMBER):
        return
    if timeline.offset is None:
        timeline.offset = (began + spent - record.seconds) * 1e6
    name = f"{metrics.get('co_name')} {records.record_compile_id(record.metadata)}"
    yield {"name": name, "ph": "X", "ts": began * 1e6, "dur": spent * 1e6, "pid": timeline.process, "tid": 0}


def _instant(kind: str, record: Record) -> Event | None:
    compile_id = records.record_compile_id(record.metadata)
    if kind == stages.RECOMPILE_REASONS:
        clauses = [clause for entry in refusals.recompile(record.text or "").entries for clause in entry.clauses]
        return {"name": f"recompile {compile_id}", "ph": "i", "s": "p", "args": {"cause": "; ".join(clauses)}}
    if kind == stages.BREAK_REASON and records.is_break(record.text or ""):
        first = (record.text or "").partition("\n")[0]
        return {"name": f"graph break {compile_id}", "ph": "i", "s": "p", "args": {"reason": first}}
    return None
