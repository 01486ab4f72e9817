"""Decompile `.pyc` files that are built to be expensive, and see how time and memory grow with their size.

    python -m tests.quality.bad_input.expensive --files 1000 [--largest 4194304] [--jobs 2] [--only FAMILY]

Each family of `tests.quality.bad_input.hostile` is made at sizes that grow evenly on a logarithmic scale, for one
version after the other. A file gives a text or one DecompilationError. Prints for each family the exponent of the
growth of processor time, which is fitted to all of its files that take longer than the clock is exact, its slowest
file, and the most memory beside what is allowed. Exits with 1 where a family breaks a bar: an exponent of 1.1, and 40
times the file plus 100 MB.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from depyf.api import load_pyc
from depyf.cli.workers import Lost, run_jobs
from depyf.decompiler.module import module_source
from depyf.errors import DecompilationError
from tests.quality.bad_input.cases import peak, reset_peak
from tests.quality.bad_input.hostile import FAMILIES
from tests.quality.bad_input.written import VERSIONS, facts_for

SMALLEST = 1 << 12
EXPONENT = 1.1
TIMES, PLUS = 40, 100 << 20
LIMIT = 600.0
EXACT = 0.05
"""Seconds below which the start of things, and the clock, count more than the size."""
RANGE = 4
"""How many times larger the largest file must be that a growth is told from."""
TEXT, REFUSED, FAULT = "text", "refused", "fault"


@dataclass(frozen=True, slots=True)
class File:
    """What is to be made: a family at a size in bytes, for a version."""

    family: str
    size: int
    version: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Spent:
    """What came of a file of `size` bytes, with seconds of processor time and bytes of memory."""

    outcome: str
    detail: str
    size: int
    seconds: float
    memory: int

    @property
    def allowed(self) -> int:
        """The bytes of memory that a file of this size may take."""
        return TIMES * self.size + PLUS


def spend(file: File) -> Spent:
    """Make a file, and decompile it."""
    data = FAMILIES[file.family](file.size, random.Random(file.size), facts_for(file.version))
    before, start = reset_peak(), time.process_time()
    try:
        outcome, detail = TEXT, f"{len(module_source(load_pyc(data)))} characters"
    except DecompilationError as error:
        outcome, detail = REFUSED, str(error)
    except Exception as error:  # noqa: BLE001  this is what the tool looks for
        outcome, detail = FAULT, f"{type(error).__name__}: {error}"
    return Spent(outcome, detail, len(data), time.process_time() - start, max(peak() - before, 0))


def drawn(count: int, largest: int, families: Sequence[str]) -> list[File]:
    """Return so many files: each family at sizes from the smallest to the largest, each size for another version."""
    rounds = max(count // len(families), 2)
    ratio = (largest / SMALLEST) ** (1 / (rounds - 1))
    return [
        File(family, round(SMALLEST * ratio**step), VERSIONS[step % len(VERSIONS)])
        for step in range(rounds)
        for family in families
    ]


def exponent(spent_list: Sequence[Spent]) -> float | None:
    """Return the slope of time over size on logarithmic scales, None where too few files take any time to tell."""
    points = [(math.log(cost.size), math.log(cost.seconds)) for cost in spent_list if cost.seconds > EXACT]
    sizes = [x for x, _ in points]
    if len(points) < 3 or max(sizes) - min(sizes) < math.log(RANGE):
        return None
    return statistics.linear_regression(*zip(*points, strict=True)).slope


def report(by_family: dict[str, list[Spent]], lost: dict[str, list[str]]) -> list[str]:
    """Print a line for each family; return what breaks a bar."""
    broken: list[str] = []
    for family, spent in by_family.items():
        slope = exponent(spent)
        slowest = max(spent, key=lambda cost: cost.seconds)
        largest = max(spent, key=lambda cost: cost.memory / cost.allowed)
        exponent_text = "-" if slope is None else f"{slope:.2f}"
        print(
            f"{family}: {len(spent)} files, exponent {exponent_text}, "
            f"slowest {slowest.seconds:.2f} s of {slowest.size} bytes, "
            f"memory {largest.memory >> 20} MB of {largest.allowed >> 20} MB, "
            f"{sum(cost.outcome == REFUSED for cost in spent)} refused"
        )
        broken += [f"{family}: {cost.detail}" for cost in spent if cost.outcome == FAULT]
        broken += [f"{family}: {reason}" for reason in lost[family]]
        if slope is not None and slope > EXPONENT:
            broken.append(f"{family}: exponent {slope:.2f}")
        if largest.memory > largest.allowed:
            broken.append(f"{family}: {largest.memory >> 20} MB for {largest.size} bytes")
    return broken


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--largest", type=int, default=1 << 18)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", choices=sorted(FAMILIES))
    options = parser.parse_args()
    families = [options.only] if options.only else list(FAMILIES)
    files = drawn(options.files, options.largest, families)
    by_family: dict[str, list[Spent]] = {family: [] for family in families}
    lost: dict[str, list[str]] = {family: [] for family in families}
    for file, result in run_jobs(spend, files, count=options.jobs, limit=LIMIT):
        if isinstance(result, Lost):
            lost[file.family].append(f"{file.size} bytes: {result.reason}")
        else:
            by_family[file.family].append(result)
    broken = report(by_family, lost)
    slopes = [slope for spent in by_family.values() if (slope := exponent(spent)) is not None]
    over = [cost for spent in by_family.values() for cost in spent if cost.memory > cost.allowed]
    print(f"{len(files)} files of {len(families)} families, {SMALLEST} to {options.largest} bytes")
    print(f"largest exponent: {max(slopes, default=0):.2f}, bar {EXPONENT:g}")
    print(f"files over {TIMES} times their size plus {PLUS >> 20} MB: {len(over)}")
    print(f"what breaks a bar: {len(broken)}", *broken, sep="\n  ")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
