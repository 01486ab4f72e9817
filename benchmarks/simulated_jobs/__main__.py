"""Judge the verdicts on simulated jobs: `python -m benchmarks.simulated_jobs [--few]`.

Fifty jobs, of 1,000 and of 10,000 ranks. The verdict is right if its ranks have the fault, and its cause and line are
those of the fault. A wait of two groups for each other shows a skipped call and a wrong order in the same way.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.bar import Bar, report
from benchmarks.simulated_jobs.files import COMPILE_LINE, ERROR_LINE, LOADER_LINE, write
from benchmarks.simulated_jobs.simulate import DATA_LINE, END_LINE, KINDS, LOSS_LINE, TENSOR_LINE, Simulated, simulated
from depyf.trace.job.evidence import add_compiles, evidence_of
from depyf.trace.job.files import find
from depyf.trace.job.hang import verdict_of
from depyf.trace.job.verdict import Verdict
from depyf.trace.job.work import scan_all

JOBS, LARGE = 50, 6
LEAST_RIGHT, MOST_SECONDS, MOST_MEGABYTES = 47, 30.0, 500.0
EXPECTED: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    "late compile": (("compiling",), (COMPILE_LINE,)),
    "cold host": (("compiling",), (COMPILE_LINE,)),
    "skipped call": (("branch", "shape", "groups"), (TENSOR_LINE,)),
    "skipped loss": (("branch", "groups"), (LOSS_LINE, TENSOR_LINE)),
    "other size": (("shape",), (TENSOR_LINE,)),
    "other type": (("shape",), (TENSOR_LINE,)),
    "other operation": (("branch",), (44, TENSOR_LINE)),
    "died by an error": (("dead",), (ERROR_LINE,)),
    "died by a signal": (("dead",), (TENSOR_LINE, DATA_LINE, LOSS_LINE)),
    "slow loader": (("slow",), (LOADER_LINE,)),
    "left the loop early": (("branch",), (END_LINE, LOSS_LINE)),
    "wrong group": (("branch", "groups"), (DATA_LINE, LOSS_LINE)),
}
"""For each kind of fault the causes and the lines that a verdict may name."""


def is_right(job: Simulated, verdict: Verdict | None) -> bool:
    """Return whether a verdict names only ranks with the fault, its cause and its line."""
    if verdict is None or not verdict.ranks:
        return False
    causes, lines = EXPECTED[job.kind]
    place = verdict.place.partition(":")
    return (
        verdict.cause.value in causes
        and set(verdict.ranks) <= set(job.victims)
        and place[0] == "train.py"
        and place[2] in map(str, lines)
    )


def judged(folder: Path) -> Verdict | None:
    """Return the verdict on the files of a folder."""
    evidence = evidence_of([str(folder)])
    if any(folder.glob("dedicated_*")):
        add_compiles(evidence, scan_all(find([str(folder)])))
    return verdict_of(evidence)


def main(jobs: int, large: int) -> None:
    """Print the bars."""
    seeded, wrong, seconds = random.Random(41), [], {1_000: [0.0], 10_000: [0.0]}
    for number in range(jobs):
        size = 10_000 if number >= jobs - large else 1_000
        job = simulated(KINDS[number % len(KINDS)], size, seeded)
        with tempfile.TemporaryDirectory() as place:
            write(job, Path(place))
            begin = time.process_time()
            verdict = judged(Path(place))
            seconds[size].append(time.process_time() - begin)
        words = f"{number}, {size} ranks, {job.kind} of {job.victims} at step {job.step}: {verdict}"
        wrong += [] if is_right(job, verdict) else [words[:600]]
        outcome = "right" if is_right(job, verdict) else "WRONG"
        print(f"{number}: {outcome}, {job.kind}, {size} ranks, {seconds[size][-1]:.1f} s", file=sys.stderr, flush=True)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    few, many = max(seconds[1_000]), max(seconds[10_000])
    right = jobs - len(wrong)
    report(
        [
            Bar("simulated jobs with the right verdict", f"{right} of {jobs}", right >= LEAST_RIGHT, wrong),
            Bar("processor time of a verdict on 1,000 ranks, at most", f"{few:.1f} s", few <= MOST_SECONDS),
            Bar("processor time of a verdict on 10,000 ranks, at most", f"{many:.1f} s", many <= 12 * max(few, 0.1)),
            Bar("memory of the process", f"{memory:.0f} MB", memory <= MOST_MEGABYTES),
        ]
    )


if __name__ == "__main__":
    main(12 if "--few" in sys.argv else JOBS, 0 if "--few" in sys.argv else LARGE)
