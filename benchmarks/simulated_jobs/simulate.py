"""Run a job of many ranks as a simulation, until it ends or nothing can go on.

A rank has a list of calls. A call ends when all members of its group have called the same number of it with the same
operation and sizes; otherwise all of them wait for ever.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

STEPS, LAYERS, HOST = 6, 3, 8
TIMEOUT = 60.0
BEGAN = 1_700_000_000.0
WORLD, TENSOR, DATA = "0", "tp", "dp"
TENSOR_LINE, DATA_LINE, LOSS_LINE, END_LINE = 41, 57, 63, 70
KINDS = (
    *("late compile", "cold host", "skipped call", "skipped loss", "other size", "other type", "other operation"),
    *("died by an error", "died by a signal", "slow loader", "left the loop early", "wrong group"),
)


@dataclass(frozen=True)
class Step:
    """A call of a program: its group, operation, sizes, type and line."""

    group: str
    operation: str
    sizes: tuple[int, ...]
    dtype: str
    line: int


@dataclass
class Rank:
    """A rank: its calls, the times at which it made them, and how many have ended."""

    number: int
    calls: list[Step]
    times: list[float] = field(default_factory=list)
    done: int = 0
    clock: float = BEGAN


@dataclass
class Simulated:
    """A job that stopped. `victims` are the ranks with the fault, which happened at `step`."""

    kind: str
    victims: tuple[int, ...]
    step: int
    ranks: list[Rank]
    members: dict[str, list[int]]

    @property
    def taken(self) -> float:
        """Return the time at which the dumps are written."""
        return max(rank.clock for rank in self.ranks) + TIMEOUT


def group_names(rank: int) -> tuple[str, str]:
    """Return the groups of a rank for tensor and for data parallelism."""
    return f"{TENSOR}{rank // HOST}", f"{DATA}{rank % HOST}"


def program(rank: int) -> list[list[Step]]:
    """Return the calls of a rank, by step."""
    tensor, data = group_names(rank)
    forward = [Step(tensor, "all_reduce", (16, 4 + layer), "BFloat16", TENSOR_LINE) for layer in range(LAYERS)]
    step = [
        *forward,
        Step(data, "reduce_scatter", (4096,), "Float", DATA_LINE),
        Step(WORLD, "all_reduce", (1,), "Float", LOSS_LINE),
    ]
    return [list(step) for _ in range(STEPS)]


def changed(kind: str, steps: list[list[Step]], step: int) -> list[Step]:
    """Return the calls of the rank with the fault, which happens at a step."""
    before = [call for calls_of_step in steps[:step] for call in calls_of_step]
    calls, after = steps[step], [call for calls_of_step in steps[step + 1 :] for call in calls_of_step]
    first, last = calls[0], calls[-1]
    match kind:
        case "skipped call":
            return [*before, *calls[1:], *after]
        case "skipped loss":
            return [*before, *calls[:-1], *after]
        case "other size":
            calls = [Step(first.group, first.operation, (16, 9), first.dtype, first.line), *calls[1:]]
        case "other type":
            calls = [Step(first.group, first.operation, first.sizes, "Float", first.line), *calls[1:]]
        case "other operation":
            calls = [Step(first.group, "broadcast", first.sizes, first.dtype, 44), *calls[1:]]
        case "left the loop early":
            return [*before, Step(WORLD, "barrier", (), "", END_LINE)]
        case "wrong group":
            data = calls[-2]
            calls = [*calls[:-2], Step(WORLD, data.operation, data.sizes, data.dtype, data.line), last]
        case _:
            return before  # It makes no further call.
    return [*before, *calls, *after]


def simulated(kind: str, size: int, seeded: random.Random) -> Simulated:
    """Return a job with a fault of a random rank at a random step."""
    culprit, step = seeded.randrange(size), seeded.randrange(2, STEPS - 1)
    host = range(culprit // HOST * HOST, min(size, (culprit // HOST + 1) * HOST))
    victims = tuple(host) if kind == "cold host" else (culprit,)
    end = Step(WORLD, "barrier", (), "", END_LINE)
    ranks, members = [], {WORLD: list(range(size))}
    for number in range(size):
        steps = program(number)
        calls = (
            changed(kind, steps, step)
            if number in victims
            else [call for calls_of_step in steps for call in calls_of_step]
        )
        ranks.append(Rank(number, calls if calls[-1:] == [end] else [*calls, end] if number not in victims else calls))
        for group in group_names(number):
            members.setdefault(group, []).append(number)
    _run(ranks, members, seeded)
    return Simulated(kind, victims, step, ranks, members)


def _run(ranks: Sequence[Rank], members: dict[str, list[int]], seeded: random.Random) -> None:
    """Let ranks call until none can go on."""
    arrived: dict[tuple[str, int], list[Rank]] = {}
    counts: dict[tuple[int, str], int] = {}
    ready = list(ranks)
    while ready:
        rank = ready.pop()
        if rank.done >= len(rank.calls):
            continue
        call = rank.calls[rank.done]
        rank.clock += 0.01 * seeded.random() + 0.01
        rank.times.append(rank.clock)
        number = counts[rank.number, call.group] = counts.get((rank.number, call.group), 0) + 1
        here = arrived.setdefault((call.group, number), [])
        here.append(rank)
        if len(here) == len(members[call.group]):
            kinds = {
                (
                    rank_here.calls[rank_here.done].operation,
                    rank_here.calls[rank_here.done].sizes,
                    rank_here.calls[rank_here.done].dtype,
                )
                for rank_here in here
            }
            if len(kinds) == 1:
                latest = max(rank_here.clock for rank_here in here)
                for rank_here in here:
                    rank_here.done, rank_here.clock = rank_here.done + 1, latest + 0.001
                ready += here
