"""Align the clocks of a job's ranks by their collectives.

A collective that needs all members ends at no rank before the last member has called it. Take two members, a and b.
The time of the end on a's clock, minus the time of the call on b's clock, is an upper bound of a's lead over b. The
same from b to a is a lower bound. The collective ends at both at about the same time, which gives the lead itself. The
lead with its drift is the line that fits best. The distance of the bounds from it is the uncertainty.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from depyf.bytecode.records import dataclass
from depyf.trace.job.recorder import Call, Recorded

MOST_BOUNDS = 256
"""The most collectives of two ranks that are used: the tightest one of each part of the time."""
USUAL_DRIFT = 1e-3
"""The drift of a clock in seconds per second that needs little evidence: ten times that of quartz."""
_PARTS = 4
"""The parts of the time of which each must relate the clocks."""
_OF_ALL = ("all_reduce", "allreduce", "barrier", "all_gather", "allgather", "reduce_scatter", "all_to_all", "alltoall")
"""The beginnings of the operations that end at no rank before all have called them."""


@dataclass(frozen=True, slots=True)
class Clock:
    """How far the clock of a rank is ahead of that of the reference rank.

    seconds: the lead at `at`.
    drift: its growth in seconds per second of the rank's own clock.
    at: a time of the rank's own clock, in seconds since 1970.
    uncertainty: the lead is at most this far off, in seconds; infinite if no collective relates the two ranks.
    """

    seconds: float
    drift: float
    at: float
    uncertainty: float

    def lead(self, moment: float) -> float:
        """Return the lead at a time of the rank's own clock."""
        return self.seconds + self.drift * (moment - self.at)

    def corrected(self, moment: float) -> float:
        """Return a time of the rank's own clock as a time of the reference rank."""
        return moment - self.lead(moment)


@dataclass(frozen=True, slots=True)
class _Bound:
    """The bounds of the lead that one collective gives, at a time of the rank's own clock, and the lead itself."""

    at: float
    lower: float
    upper: float
    lead: float

    @property
    def width(self) -> float:
        """Return the distance of the bounds, in seconds."""
        return max(self.upper - self.lower, 1e-9)


Ends: TypeAlias = Mapping[int, Mapping[tuple[str, int], float]]
"""For each rank when its collectives had ended, on its own clock."""

UNRELATED = Clock(0.0, 0.0, 0.0, float("inf"))


def clocks_of(dumps: Sequence[Recorded]) -> dict[int, Clock]:
    """Return the clock of each rank, relative to the first one.

    Ranks without a common group are related by others; their uncertainties add up.
    """
    by_rank = {dump.rank: dump for dump in dumps}
    ends = {dump.rank: _ends(dump) for dump in dumps}
    members: dict[str, list[int]] = {}
    for dump in dumps:
        for group in dict.fromkeys(group for group, _ in dump.calls):
            members.setdefault(group, []).append(dump.rank)
    if not dumps:
        return {}
    clocks = {dumps[0].rank: Clock(0.0, 0.0, 0.0, 0.0)}
    waiting = deque(clocks)
    while waiting:
        known = waiting.popleft()
        groups = dict.fromkeys(group for group, _ in by_rank[known].calls)
        for rank in dict.fromkeys(rank for group in groups for rank in members[group]):
            if rank not in clocks:
                relative = _fitted(_bounds(by_rank[rank], by_rank[known], ends))
                if relative is not None:
                    clocks[rank] = _chained(relative, clocks[known])
                    waiting.append(rank)
    clocks = _refined(by_rank, ends, clocks)
    return {dump.rank: clocks.get(dump.rank, UNRELATED) for dump in dumps}


def _refined(by_rank: Mapping[int, Recorded], ends: Ends, clocks: Mapping[int, Clock]) -> dict[int, Clock]:
    """Return clocks that fit the mean of all members of each collective, not the times of the reference alone.

    The mean of many ranks has a smaller error than one of them.
    """
    sums: dict[tuple[str, int], list[float]] = {}
    for rank, clock in clocks.items():
        for key, moment, _ in _moments(by_rank[rank], ends[rank]):
            total = sums.setdefault(key, [0.0, 0.0])
            total[0] += clock.corrected(moment)
            total[1] += 1
    lines: dict[int, Clock] = {}
    for rank in clocks:
        moments = ((key, moment, width) for key, moment, width in _moments(by_rank[rank], ends[rank]))
        leads = [_Bound(moment, -width, width, moment - sums[key][0] / sums[key][1]) for key, moment, width in moments]
        line = _line(_tightest(leads)) if leads else None
        if line is None:
            return dict(clocks)
        lines[rank] = line
    reference = lines[next(iter(clocks))]
    return {rank: _relative(line, reference, clocks[rank]) for rank, line in lines.items()}


def _relative(line: Clock, reference: Clock, rough: Clock) -> Clock:
    """Return a clock relative to the reference, from those of both relative to the mean of all ranks.

    The uncertainty of the rough clock is that of its own line, so the distance of the two lines is added.
    """
    there = line.corrected(line.at)  # The reference's own clock differs from this by little.
    seconds = line.seconds - reference.lead(there + reference.lead(there))
    relative = Clock(seconds, line.drift - reference.drift, line.at, 0.0)
    return replace(relative, uncertainty=rough.uncertainty + abs(relative.seconds - rough.lead(relative.at)))


def _moments(dump: Recorded, ends: Mapping[tuple[str, int], float]) -> Iterator[tuple[tuple[str, int], float, float]]:
    """Yield for each collective of all members its end on the rank's clock, and its length, in seconds."""
    for key, call in dump.calls.items():
        if key in ends and _is_of_all(call):
            begin = call.nanoseconds / 1e9
            yield key, ends[key], max(ends[key] - begin, 1e-9)


def _ends(dump: Recorded) -> dict[tuple[str, int], float]:
    """Return when each finished collective had ended: its recorded end, else the rank's next call."""
    ends: dict[tuple[str, int], float] = {}
    later = 0.0
    for key, call in reversed(dump.calls.items()):
        end = call.ended / 1e9 if call.ended else later
        if call.is_done and end:
            ends[key] = end
        later = call.nanoseconds / 1e9
    return ends


def _bounds(dump: Recorded, other: Recorded, ends: Ends) -> Iterable[_Bound]:
    own_ends, other_ends = ends[dump.rank], ends[other.rank]
    for key, call in dump.calls.items():
        theirs = other.calls.get(key)
        if theirs is not None and key in own_ends and key in other_ends and _is_of_all(call):
            at = call.nanoseconds / 1e9
            lower, upper = at - other_ends[key], own_ends[key] - theirs.nanoseconds / 1e9
            yield _Bound(at, lower, upper, own_ends[key] - other_ends[key])


def _is_of_all(call: Call) -> bool:
    return call.operation.lstrip("_").startswith(_OF_ALL)


def _fitted(bounds: Iterable[_Bound]) -> Clock | None:
    """Return the line through the leads with its uncertainty, or None without bounds."""
    chosen = _tightest(list(bounds))
    if not chosen:
        return None
    line = _line(chosen)
    return replace(line, uncertainty=max(_distance(line, part) for part in _parts(chosen, _PARTS)))


def _line(chosen: Sequence[_Bound]) -> Clock:
    """Return the line through the leads. Tight bounds weigh more.

    Without evidence the drift is 0: in a short time the leads differ more by chance than by the drift.
    """
    weights = [1 / bound.width**2 for bound in chosen]
    total = sum(weights)
    center = sum(weight * bound.at for weight, bound in zip(weights, chosen, strict=True)) / total
    middle = sum(weight * bound.lead for weight, bound in zip(weights, chosen, strict=True)) / total
    spread = growth = 0.0
    for weight, bound in zip(weights, chosen, strict=True):
        spread += weight * (bound.at - center) ** 2
        growth += weight * (bound.at - center) * (bound.lead - middle)
    return Clock(middle, growth / (spread + 1 / USUAL_DRIFT**2), center, 0.0)


def _distance(line: Clock, bounds: Sequence[_Bound]) -> float:
    """Return the farthest that the true lead may be from a line during some collectives, in seconds.

    If the bounds contradict the line, because a collective ran in the background, the contradiction counts, too.
    """
    above = min(bound.upper - line.lead(bound.at) for bound in bounds)
    below = min(line.lead(bound.at) - bound.lower for bound in bounds)
    return max(abs(above), abs(below))


def _tightest(bounds: list[_Bound]) -> list[_Bound]:
    """Return the tightest bound of each part of the time, in order."""
    bounds.sort(key=lambda bound: bound.at)
    return [min(part, key=lambda bound: bound.width) for part in _parts(bounds, MOST_BOUNDS)]


def _parts(bounds: Sequence[_Bound], count: int) -> Iterator[Sequence[_Bound]]:
    """Yield bounds in so many parts, or fewer."""
    size = max(1, -(-len(bounds) // count))
    return (bounds[begin : begin + size] for begin in range(0, len(bounds), size))


def _chained(relative: Clock, known: Clock) -> Clock:
    """Return a clock relative to the reference, from one relative to a rank that is related to the reference."""
    moment = relative.corrected(relative.at)
    drift = relative.drift + known.drift * (1 - relative.drift)
    uncertainty = relative.uncertainty + known.uncertainty
    return Clock(relative.seconds + known.lead(moment), drift, relative.at, uncertainty)
