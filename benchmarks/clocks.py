"""Clocks of simulated jobs, recovered from their collectives: `python -m benchmarks.clocks`.

Each host has a skew of up to 10 s and a drift of up to 100 ppm. Ranks wait for the last member of a group, and then for
the transfer. The recorder writes the times of the host's clock. Half of the jobs record when a collective ended.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from benchmarks.bar import Bar, report
from depyf.trace.job.clocks import clocks_of
from depyf.trace.job.recorder import Call, Recorded

JOBS, RANKS, HOST, STEPS = 40, 64, 8, 120
MOST_SKEW, MOST_DRIFT = 10.0, 1e-4
BEGAN = 1_700_000_000.0


@dataclass
class Host:
    """The clock of a host: its lead at the beginning, and its drift."""

    skew: float
    drift: float

    def shows(self, moment: float) -> float:
        """Return the time that the clock shows."""
        return moment + self.skew + self.drift * (moment - BEGAN)


def job(seeded: random.Random, *, has_ends: bool) -> tuple[list[Recorded], list[Host], float]:
    """Return the dumps of a job, the clocks of its hosts, and the shortest time of a collective."""
    hosts = [
        Host(seeded.uniform(-MOST_SKEW, MOST_SKEW), seeded.uniform(-MOST_DRIFT, MOST_DRIFT))
        for _ in range(RANKS // HOST)
    ]
    clock = [BEGAN + seeded.uniform(0, 0.1) for _ in range(RANKS)]
    calls: list[dict[tuple[str, int], Call]] = [{} for _ in range(RANKS)]
    shortest = float("inf")
    for step in range(1, STEPS + 1):
        world = [("0", list(range(RANKS)))]
        data = [(f"dp{number}", list(range(number, RANKS, HOST))) for number in range(HOST)]
        for group, members in world if step % 3 == 0 else data:
            number = step // 3 if step % 3 == 0 else step - step // 3
            begins = {rank: clock[rank] + seeded.expovariate(200) for rank in members}
            end = max(begins.values()) + seeded.uniform(0.01, 0.05)
            for rank in members:
                host = hosts[rank // HOST]
                shortest = min(shortest, end - begins[rank])
                created, ended = (int(host.shows(moment) * 1e9) for moment in (begins[rank], end + 1e-4))
                calls[rank][group, number] = Call(
                    "all_reduce", "Float [4]", "", created, True, ended if has_ends else 0
                )
                clock[rank] = end + seeded.uniform(0, 0.002)
        if step % 40 == 0:
            clock = [moment + 60 for moment in clock]  # Drifts show in long jobs.
    return [Recorded(rank, calls_of_rank) for rank, calls_of_rank in enumerate(calls)], hosts, shortest


def worst_error(dumps: list[Recorded], hosts: list[Host]) -> tuple[float, int]:
    """Return the largest error of a corrected time in seconds, and how many errors exceed the uncertainty shown."""
    clocks, worst, beyond = clocks_of(dumps), 0.0, 0
    for dump in dumps:
        host = hosts[dump.rank // HOST]
        for call in list(dump.calls.values())[::7]:
            shown = call.nanoseconds / 1e9
            moment = BEGAN + (shown - BEGAN - host.skew) / (1 + host.drift)
            error = abs(clocks[dump.rank].corrected(shown) - hosts[0].shows(moment))
            worst = max(worst, error)
            beyond += error > clocks[dump.rank].uncertainty + 1e-6
    return worst, beyond


def main() -> None:
    """Print the bars."""
    seeded, right, beyond, ratios = random.Random(41), 0, 0, []
    for number in range(JOBS):
        dumps, hosts, shortest = job(seeded, has_ends=number % 2 == 0)
        error, more = worst_error(dumps, hosts)
        right += error <= shortest
        beyond += more
        ratios.append(error / shortest)
    note = f"the worst error is {max(ratios):.2f} of the shortest collective"
    report(
        [
            Bar(
                "jobs whose clocks are right within the shortest collective",
                f"{right} of {JOBS}",
                right == JOBS,
                note=note,
            ),
            Bar("corrected times that are farther off than the uncertainty shown", str(beyond), beyond == 0),
        ]
    )


if __name__ == "__main__":
    main()
