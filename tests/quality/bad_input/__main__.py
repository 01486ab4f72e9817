"""Damage `.pyc` files of every version and live code objects, and see what the decompiler makes of them.

    python -m tests.quality.bad_input --cases 100000 --seed 0 [--jobs 2] [--only NUMBER]

Each case gives a result or one DecompilationError, in at most a second of processor time and 200 MB of memory; it must
not crash, hang, or raise anything else. Prints the counts, the worst cases by number, and exits with 1 where a case
breaks that rule. One case in four is proven too. `--only` runs one case here, and shows what came of it.
"""

from __future__ import annotations

import argparse
import collections
import sys
import time
from dataclasses import dataclass, field

from depyf.cli.workers import Lost, run_jobs
from tests.quality.bad_input.cases import FAULT, Batch, Cases, Cost, run_batch

SECONDS, MEMORY = 1.0, 200 << 20
BATCH = 250
HANGS = 60.0
SHOWN = 20


@dataclass(slots=True)
class Found:
    """What came of all cases so far."""

    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    broken: list[str] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, -1)
    largest: tuple[int, int] = (0, -1)

    def add(self, number: int, cost: Cost) -> None:
        """Add a case."""
        self.outcomes[cost.outcome] += 1
        self.slowest = max(self.slowest, (cost.seconds, number))
        self.largest = max(self.largest, (cost.memory, number))
        if cost.outcome == FAULT:
            self.broken.append(f"{number}: {cost.detail}")
        if cost.seconds > SECONDS:
            self.broken.append(f"{number}: {cost.seconds:.2f} s")
        if cost.memory > MEMORY:
            self.broken.append(f"{number}: {cost.memory >> 20} MB")


def run_all(seed: int, count: int, jobs: int) -> Found:
    """Run cases in processes; those of a batch that crashes or hangs are run again one by one."""
    outcomes = Found()
    batches = [Batch(seed, tuple(range(start, min(start + BATCH, count)))) for start in range(0, count, BATCH)]
    while batches:
        again: list[Batch] = []
        for batch, result in run_jobs(run_batch, batches, count=jobs, limit=HANGS):
            if not isinstance(result, Lost):
                for number, cost in result:
                    outcomes.add(number, cost)
            elif len(batch.numbers) == 1:
                outcomes.outcomes["crashed or hung"] += 1
                outcomes.broken.append(f"{batch.numbers[0]}: {result.reason}")
            else:
                again += [Batch(seed, (number,)) for number in batch.numbers]
        batches = again
    return outcomes


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    if options.only is not None:
        print(Cases(options.seed).run(options.only))
        return 0
    start = time.perf_counter()
    outcomes = run_all(options.seed, options.cases, options.jobs)
    counts = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.outcomes.most_common())
    print(f"seed {options.seed}, {options.cases} cases in {time.perf_counter() - start:.0f} s: {counts}")
    print(f"slowest: {outcomes.slowest[0]:.3f} s (case {outcomes.slowest[1]}), bar {SECONDS:g} s")
    print(f"largest: {outcomes.largest[0] / (1 << 20):.1f} MB (case {outcomes.largest[1]}), bar {MEMORY >> 20} MB")
    print(f"cases that break the rule: {len(outcomes.broken)}", *outcomes.broken[:SHOWN], sep="\n  ")
    return 1 if outcomes.broken else 0


if __name__ == "__main__":
    sys.exit(main())
