"""The rows of a job's timeline: one for each rank, or one for each group of equal ranks if there are many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from depyf.bytecode.records import dataclass
from depyf.trace.job.clocks import Clock, clocks_of
from depyf.trace.job.files import Source
from depyf.trace.job.groups import ranks_in_words
from depyf.trace.job.recorder import Call, Recorded

MOST_ROWS = 32
"""The most ranks that have a row each."""
Event: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the rank that is drawn, by its trace and its recorder's dump, and its clock.

    label: the rank, or the ranks that are equal to it, with the correction of the clock.
    """

    label: str
    source: Source | None
    recorded: Recorded | None
    clock: Clock | None

    def corrected(self, event: Event) -> Event:
        """Return an event with its time on the clock of the reference rank."""
        if self.clock is None or "ts" not in event:
            return event
        return {**event, "ts": self.clock.corrected(event["ts"] / 1e6) * 1e6}


def rows_of(
    sources: Sequence[Source], recorded: Sequence[Recorded], dumps: Mapping[str, Path], most: int = MOST_ROWS
) -> list[Row]:
    """Return the rows of a timeline.

    Args:
        sources: the traces.
        recorded: the collectives of the ranks, for their clocks.
        dumps: for the path of each trace the dump that stands for it. Equal ranks share one.
        most: the largest number of rows; with more ranks, equal ones share a row.
    """
    by_rank, clocks = {dump.rank: dump for dump in recorded}, clocks_of(recorded)
    traced = {source.rank for source in sources}
    alone = [dump for dump in recorded if dump.rank not in traced]
    groups: dict[object, list[tuple[Source | None, int | None]]] = {}
    is_many = len(sources) + len(alone) > most
    for source in sources:
        key = dumps.get(source.path) if is_many else None
        groups.setdefault(key or source.path, []).append((source, source.rank))
    for dump in alone:
        groups.setdefault(_state(dump) if is_many else dump.rank, []).append((None, dump.rank))
    rows = []
    for members in groups.values():
        first, rank = members[0]
        clock = clocks.get(rank) if rank is not None else None
        label = first.name if rank is None and first is not None else _label([number for _, number in members])
        rows.append(Row(label + _correction(clock), first, by_rank.get(rank) if rank is not None else None, clock))
    return rows


def _state(dump: Recorded) -> tuple[object, ...]:
    """Return where a rank is: ranks with the same number of calls and the same last one are equal."""
    last = next(reversed(dump.calls.values()), None)
    return (len(dump.calls), last.operation, last.line, last.is_done) if last is not None else ()


def _label(ranks: Sequence[int | None]) -> str:
    numbers = [rank for rank in ranks if rank is not None]
    return f"rank{'s' if len(numbers) > 1 else ''} {ranks_in_words(numbers)}"


def _correction(clock: Clock | None) -> str:
    if clock is None or not clock.uncertainty:
        return ""
    if clock.uncertainty == float("inf"):
        return " (clock not aligned)"
    return f" (clock corrected by {-clock.seconds:+.3f} s, at most {clock.uncertainty:.3f} s off)"


def collectives(row: Row, process: int) -> Iterator[Event]:
    """Yield the collectives of a row, those of each group as a thread. A pending one lasts until the dump."""
    if row.recorded is None:
        return
    threads: dict[str, int] = {}
    calls = list(row.recorded.calls.items())
    for place, ((group, number), call) in enumerate(calls):
        if group not in threads:
            threads[group] = len(threads) + 1
            name = f"collectives of {row.recorded.names.get(group, group)}"
            yield {"name": "thread_name", "ph": "M", "pid": process, "tid": threads[group], "args": {"name": name}}
        later = calls[place + 1][1].nanoseconds if place + 1 < len(calls) else 0
        event = _event(call, number, later, row.recorded.taken)
        yield row.corrected({**event, "pid": process, "tid": threads[group]})


def _event(call: Call, number: int, later: int, taken: float) -> Event:
    """Return a collective. If its end is not recorded, it lasts until the rank's next call, `later`."""
    end = (call.ended or later or call.nanoseconds) if call.is_done else taken * 1e9
    name = f"{call.operation} #{number}" if call.is_done else f"waits at {call.operation} #{number}"
    duration = max(0.0, (end - call.nanoseconds) / 1e3)
    arguments = {"tensors": call.tensors, "line": call.place}
    return {"name": name, "ph": "X", "ts": call.nanoseconds / 1e3, "dur": duration, "args": arguments}
