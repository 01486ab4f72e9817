"""Find the collectives at which ranks wait, and the ranks that all of them wait for in the end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from depyf.bytecode.records import dataclass
from depyf.trace.job.recorder import Call, Recorded

LEAST_WAIT = 2.0
"""A rank that waits for a shorter time, in seconds, may be one of a healthy job."""
GAPS = 3.0
"""A rank waits for long if it waits for so many times the usual time between two collectives."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Ranks that wait at a collective of a group, and members of the group that have not called it."""

    group: str
    number: int
    call: Call
    waiting: tuple[int, ...]
    absent: tuple[int, ...]
    seconds: float


def stuck(dumps: Sequence[Recorded]) -> list[Wait]:
    """Return the collectives at which ranks wait for a long time, and for whom, longest first."""
    members = _members(dumps)
    done: set[tuple[str, int]] = set()
    pending: dict[tuple[str, int], list[Recorded]] = defaultdict(list)
    for dump in dumps:
        for key, call in dump.calls.items():
            if call.is_done:
                done.add(key)
            else:
                pending[key].append(dump)
    by_rank = {dump.rank: dump for dump in dumps}
    limit = max(LEAST_WAIT, GAPS * _usual_gap(dumps))
    waits = []
    for key, waiting in pending.items():
        seconds = max(_waited(dump, key) for dump in waiting)
        absent = [rank for rank in sorted(members[key[0]]) if rank not in by_rank or key not in by_rank[rank].calls]
        since = min(dump.calls[key].nanoseconds for dump in waiting) / 1e9
        late = [rank for rank in absent if rank not in by_rank or by_rank[rank].taken - since > limit / 2]
        if seconds > limit and late and key not in done:
            call = waiting[0].calls[key]
            waits.append(Wait(*key, call, tuple(dump.rank for dump in waiting), tuple(late), seconds))
    return sorted(waits, key=lambda wait: -wait.seconds)


def _members(dumps: Sequence[Recorded]) -> dict[str, set[int]]:
    """Return the ranks of each group: those that the dumps name, and those that called a collective of it."""
    members: dict[str, set[int]] = defaultdict(set)
    # All dumps of a job name the same groups, and share the tuples of their ranks.
    described = {(group, id(ranks)): ranks for dump in dumps for group, ranks in dump.members}
    for (group, _), ranks in described.items():
        members[group].update(ranks)
    world = {rank for ranks in described.values() for rank in ranks}
    for dump in dumps:
        world.add(dump.rank)
        for group in dict.fromkeys(group for group, _ in dump.calls):
            members[group].add(dump.rank)
    if "0" in members:
        members["0"] = world
    return members


def _waited(dump: Recorded, key: tuple[str, int]) -> float:
    return dump.taken - dump.calls[key].nanoseconds / 1e9


def _usual_gap(dumps: Sequence[Recorded]) -> float:
    """Return the time that passes between two collectives of a rank, in seconds: the median."""
    gaps: list[float] = []
    for dump in dumps[:64]:
        times = sorted(call.nanoseconds for call in dump.calls.values())
        gaps += [(later - earlier) / 1e9 for earlier, later in zip(times, times[1:], strict=False)]
    return sorted(gaps)[len(gaps) // 2] if gaps else 0.0


def causes_of(waits: Sequence[Wait]) -> list[Wait]:
    """Return the waits for ranks that wait nowhere themselves, with only these ranks as absent.

    In a job with several groups most ranks wait for ranks that wait, too. The fewer absent ranks, the earlier.
    """
    waiting = {rank for wait in waits for rank in wait.waiting}
    waits_for_idle = [
        replace(wait, absent=tuple(rank for rank in wait.absent if rank not in waiting)) for wait in waits
    ]
    return sorted((wait for wait in waits_for_idle if wait.absent), key=lambda wait: (len(wait.absent), -wait.seconds))


def cycle_of(waits: Sequence[Wait]) -> list[Wait]:
    """Return waits each of which is for a rank that waits at the next one, and the last for one at the first; or []."""
    where = {rank: number for number, wait in enumerate(waits) for rank in wait.waiting}
    state = [0] * len(waits)
    for start in range(len(waits)):
        path: list[int] = []
        number: int | None = start
        while number is not None and not state[number]:
            state[number] = start + 1
            path.append(number)
            number = next((where[rank] for rank in waits[number].absent if rank in where), None)
        if number is not None and state[number] == start + 1:
            return [waits[position] for position in path[path.index(number) :]]
    return []
