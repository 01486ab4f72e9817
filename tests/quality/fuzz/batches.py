"""Run programs in processes of their own: one that ends its interpreter costs that program alone, and is judged."""

from __future__ import annotations

import dis
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from depyf.cli.workers import Lost, run_jobs
from depyf.decompiler.pipeline.table import NOTHING
from depyf.verify.level import Level
from tests.quality.fuzz.check import ORIGINAL, OURS, Outcome, check, run_alone
from tests.quality.fuzz.generate import PLAIN, generate
from tests.quality.fuzz.lower import lower, running
from tests.quality.fuzz.program import Program
from tests.quality.fuzz.shrink import shrink

TOGETHER = 25
LIMIT = 120.0
"""Seconds that one process may take for what it is given."""
PLACE = re.compile(r" \((<fuzz>|original).*?\)")
NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Batch:
    """Seeds of programs that one process runs one after the other.

    profile: what the programs are made of.
    without: passes to leave out.
    show, shrinks: print every program; make each smaller that is not the same or not proven.
    alone: run one side only, and compare nothing.
    """

    seeds: tuple[int, ...]
    profile: str = PLAIN
    without: frozenset[str] = NOTHING
    show: bool = False
    shrinks: bool = False
    alone: str = ""


@dataclass(frozen=True)
class Found:
    """What became of the program of a seed; `invalid` is one that the interpreter itself does not survive."""

    seed: int
    kind: str
    level: Level
    reason: str
    text: str = ""
    faults: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        """Return whether it does the same, and is proven to, and nothing went wrong on the way."""
        return self.kind == "same" and self.level is not Level.UNPROVEN and not self.faults


Runner = Callable[[Batch], list[Found]]


def run_all(batch: Batch, jobs: int, run: Runner | None = None) -> Iterator[Found]:
    """Yield what becomes of all programs, in any order; `run` runs those of one batch, in another process."""
    run = run or run_batch
    batches = [
        replace(batch, seeds=batch.seeds[start : start + TOGETHER]) for start in range(0, len(batch.seeds), TOGETHER)
    ]
    while batches:
        again: list[Batch] = []
        for done, result in run_jobs(run, batches, count=jobs, limit=LIMIT):
            if not isinstance(result, Lost):
                yield from result
            elif len(done.seeds) == 1:
                yield crashed(done, result, run)
            else:
                again += [replace(done, seeds=(seed,)) for seed in done.seeds]
        batches = again


def crashed(batch: Batch, lost: Lost, run: Runner) -> Found:
    """Say which side ends its process, the program that was made or what it became."""
    seed = batch.seeds[0]
    for side, kind in ((ORIGINAL, "invalid"), (OURS, "different")):
        alone = replace(batch, alone=side)
        for _, result in run_jobs(run, [alone], count=1, limit=LIMIT):
            if isinstance(result, Lost):
                return Found(seed, kind, Level.UNPROVEN, f"{side}: {result.reason}")
    return Found(seed, "failed", Level.UNPROVEN, f"with neither side alone: {lost.reason}")


def run_batch(batch: Batch) -> list[Found]:
    """Run the programs of a batch here."""
    return [run_one(batch, seed) for seed in batch.seeds]


def run_one(batch: Batch, seed: int) -> Found:
    """Run the program of one seed."""
    program = generate(running(), seed, profile=batch.profile)
    if batch.alone:
        run_alone(lower(program), batch.alone, batch.without)
        return Found(seed, "same", Level.UNPROVEN, "")
    outcome = check(lower(program), batch.without)
    result = Found(seed, outcome.kind, outcome.level, sort_of(outcome), faults=outcome.faults)
    shrinks = batch.shrinks and not result.is_good
    if shrinks:
        program = shrunk(program, outcome, batch.without)
    return replace(result, text=described(program, batch.without)) if batch.show or shrinks else result


def described(program: Program, without: frozenset[str]) -> str:
    """Return a program, its code, and what became of it."""
    code = lower(program)
    outcome = check(code, without)
    listing = io.StringIO()
    dis.dis(code, file=listing)
    blocks = "\n".join(map(str, [*enumerate(program.blocks), *enumerate(program.regions)]))
    verdict = f"{outcome.kind} {outcome.level} {outcome.reason}"
    return f"{blocks}\n{listing.getvalue()}\n{outcome.source}\n{verdict}"


def shrunk(program: Program, outcome: Outcome, without: frozenset[str]) -> Program:
    """Return a smaller program of which the same becomes."""

    def is_wrong(candidate: Program) -> bool:
        checked = check(lower(candidate), without)
        return (checked.kind, checked.level, sort_of(checked)) == (outcome.kind, outcome.level, sort_of(outcome))

    return shrink(program, is_wrong)


def sort_of(outcome: Outcome) -> str:
    """Return the reason without what differs from one program to the next."""
    if outcome.faults:
        return NUMBER.sub("#", outcome.faults[0])
    return "" if outcome.kind == "different" else NUMBER.sub("#", PLACE.sub("", outcome.reason))
