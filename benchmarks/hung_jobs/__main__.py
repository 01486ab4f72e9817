"""Judge the verdicts on the jobs that `make` ran: `python -m benchmarks.hung_jobs DIR [--fresh]`.

A verdict is right if it names the rank, the cause and a marked line. Each job is judged with all its files, and with
some kinds of them, except with `--all-files`. `--text` prints every verdict on all files.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from benchmarks.bar import Bar, report
from benchmarks.hung_jobs.jobs import CAUSES, Job, all_jobs, fresh_jobs
from depyf.trace.job.evidence import add_compiles, evidence_of
from depyf.trace.job.files import find
from depyf.trace.job.hang import verdict_of
from depyf.trace.job.verdict import Verdict
from depyf.trace.job.work import scan_all

KINDS = {
    "recorder": ("recorder_*",),
    "traces": ("dedicated_*",),
    "stacks": ("stack_*",),
    "outputs": ("logs", "torchrun.log"),
}
SETS = (
    ("recorder", "traces", "stacks", "outputs"),
    ("recorder", "traces", "outputs"),
    ("recorder", "stacks", "outputs"),
    ("recorder", "traces", "stacks"),
    ("recorder",),
    ("stacks",),
    ("traces",),
    ("outputs",),
)
LEAST_RIGHT = 54


def verdict_with(folder: Path, kinds: Iterable[str]) -> Verdict | None:
    """Return the verdict from some kinds of files of a job."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        for pattern in (pattern for kind in kinds for pattern in KINDS[kind]):
            for path in folder.glob(pattern):
                if path.is_dir():
                    shutil.copytree(path, place / path.name)
                else:
                    shutil.copy2(path, place / path.name)
        traces = find([scratch]) if any(place.glob("dedicated_*")) else []
        evidence = evidence_of([scratch])
        if traces:
            add_compiles(evidence, scan_all(traces))
        return verdict_of(evidence)


def is_right(job: Job, verdict: Verdict | None) -> bool:
    """Return whether a verdict on a broken job names its rank, cause and line."""
    if verdict is None or verdict.cause.value not in CAUSES[job.program]:
        return False
    return verdict.ranks == (job.culprit,) and verdict.place in job.places


def main(folder: Path, *, shows_text: bool, is_fresh: bool) -> None:
    """Print the bars."""
    jobs = [job for job in (fresh_jobs() if is_fresh else all_jobs()) if (folder / job.name).is_dir()]
    bars = []
    which = "fresh broken jobs" if is_fresh else "broken jobs"
    for kinds in SETS[:1] if "--all-files" in sys.argv else SETS:
        wrong, alarms, broken, healthy = [], [], 0, 0
        for job in jobs:
            verdict = verdict_with(folder / job.name, kinds)
            words = f"{job.name}: {verdict.text if verdict else 'none'} [{verdict.place if verdict else ''}]"
            if shows_text and kinds == SETS[0]:
                print(words)
            if job.culprit < 0:
                healthy += 1
                alarms += [words] if verdict is not None and verdict.is_sure else []
            else:
                broken += 1
                wrong += [] if is_right(job, verdict) else [words]
        title = "all files" if kinds == SETS[0] else " and ".join(kinds) + " alone"
        is_barred = kinds == SETS[0] and not is_fresh
        right = broken - len(wrong)
        met = right >= LEAST_RIGHT or not is_barred
        bars.append(Bar(f"{which} with the right verdict, {title}", f"{right} of {broken}", met, wrong))
        quiet = f"{healthy - len(alarms)} of {healthy}"
        if not healthy:
            continue
        bars.append(Bar(f"healthy jobs without a verdict, {title}", quiet, not alarms, alarms))
    report(bars)


if __name__ == "__main__":
    main(Path(sys.argv[1]), shows_text="--text" in sys.argv, is_fresh="--fresh" in sys.argv)
