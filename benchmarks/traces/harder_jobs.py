"""Jobs with more than one difference: `python -m benchmarks.traces.harder_jobs [COUNT] [SEED]`.

Two ranks with a difference each, several ranks with the same one, half of the ranks with one, one in the last compile
alone, and one rank with two. Each row of ranks that differ must be named with the right ranks and cause.
"""

from __future__ import annotations

import gzip
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from benchmarks.traces.jobs import DATA, INJECTIONS, Injection, Records, of_rank, parsed
from depyf.trace.job.files import find
from depyf.trace.job.groups import Divergence, job_of, ranks_in_words
from depyf.trace.job.work import scan_all

CHANGES = ("recompile", "guard", "collective order", "collective size")
Plan = dict[tuple[int, ...], tuple[str, ...]]
"""The ranks that differ, and the kinds of their differences: the first of the compiles, or any of one compile."""


def two_ranks(ranks: int, chance: random.Random) -> Plan:
    """Give two ranks a difference each."""
    (first_rank, other), (first, second) = chance.sample(range(ranks), 2), chance.sample(CHANGES, 2)
    return {(first_rank,): (first,), (other,): (second,)}


def several_ranks(ranks: int, chance: random.Random) -> Plan:
    """Give several ranks the same difference."""
    return {tuple(sorted(chance.sample(range(ranks), chance.randint(2, ranks // 3)))): (chance.choice(CHANGES),)}


def half(ranks: int, chance: random.Random) -> Plan:
    """Give half of the ranks a difference: either half may be named."""
    return {tuple(sorted(chance.sample(range(ranks), ranks // 2))): (chance.choice(CHANGES),)}


def twice(ranks: int, chance: random.Random) -> Plan:
    """Give one rank two differences."""
    return {(chance.randrange(ranks),): tuple(chance.sample(CHANGES, 2))}


PLANS: dict[str, Callable[[int, random.Random], Plan]] = {
    "two ranks": two_ranks,
    "several ranks": several_ranks,
    "half of the ranks": half,
    "two differences of a rank": twice,
}


def job(base: Records, plan: Plan, ranks: int, chance: random.Random, folder: Path) -> list[Divergence]:
    """Write a job and return what is named of it."""
    for pair_of_ranks, kinds in plan.items():
        seed = chance.randrange(1 << 30)
        for rank in pair_of_ranks:
            write(base, rank, chance, folder, kinds, seed)
    changed = {rank for row in plan for rank in row}
    for rank in range(ranks):
        if rank not in changed:
            write(base, rank, chance, folder, (), 0)
    scanned = scan_all(find([str(folder)]))
    return job_of(scanned.ranks, scanned.facts).divergences


def write(base: Records, rank: int, chance: random.Random, folder: Path, kinds: tuple[str, ...], seed: int) -> None:
    """Write the trace of a rank; ranks with one seed differ in the same."""
    records = of_rank(base, rank, chance)
    for kind in kinds:
        change: Injection | None = INJECTIONS[kind][0]
        assert change is not None
        records = change(records, random.Random(seed)) or records
    text = "\n".join(record.text() for record in records) + "\n"
    (folder / f"dedicated_log_torch_trace_rank_{rank}_x.log").write_text(text)


def is_right(plan: Plan, named: list[Divergence], ranks: int) -> bool:
    """Return whether each row of ranks is named with one of its differences, and nothing else is."""
    rows = {divergence.ranks: divergence for divergence in named}
    for row, kinds in plan.items():
        others = tuple(sorted(set(range(ranks)) - set(row)))
        words = [ranks_in_words(row), *([ranks_in_words(others)] if 2 * len(row) == ranks else [])]
        named_divergence = next((rows.pop(text) for text in words if text in rows), None)
        wanted = {cause for kind in kinds for cause in INJECTIONS[kind][1]}
        # The half that lacks a recompile may be the one that is named.
        wanted |= {"compile missing"} if len(words) > 1 and "recompile" in kinds else set()
        if named_divergence is None or named_divergence.kind not in wanted:
            return False
    return not rows


def main() -> None:
    """Make jobs, and print how many differences were named."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    base = parsed(gzip.decompress((DATA / "ranks/dedicated_log_torch_trace_rank_0_x.log.gz").read_bytes()).decode())
    right: Counter[tuple[str, bool]] = Counter()
    for number in range(seed, seed + count):
        chance = random.Random(number)
        name = list(PLANS)[number % len(PLANS)]
        ranks = 2 * chance.randint(4, 20)
        plan = PLANS[name](ranks, chance)
        with tempfile.TemporaryDirectory() as folder:
            named = job(base, plan, ranks, chance, Path(folder))
        good = is_right(plan, named, ranks)
        right[name, good] += 1
        if not good:
            print(
                f"job {number}: {plan} of {ranks}; named:",
                [(divergence.kind, divergence.ranks, divergence.cause) for divergence in named],
            )
    for name in PLANS:
        print(f"{name}: {right[name, True]} of {right[name, True] + right[name, False]}")
    sys.exit(any(not good for _, good in right))


if __name__ == "__main__":
    main()
