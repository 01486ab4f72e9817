"""Verdicts on jobs with several groups, where most ranks wait for ranks that wait, too."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.simulated_jobs.__main__ import is_right, judged
from benchmarks.simulated_jobs.files import write
from benchmarks.simulated_jobs.simulate import KINDS, simulated
from depyf.trace.job.outputs import Outputs


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_of_one_rank_of_many_is_named(kind: str, tmp_path: Path) -> None:
    job = simulated(kind, 48, random.Random(3))
    write(job, tmp_path)
    verdict = judged(tmp_path)
    assert is_right(job, verdict), (job.victims, verdict)


def test_the_rank_of_the_job_counts_and_not_that_of_the_host() -> None:
    outputs = Outputs()
    text = "failed (exitcode: -9) local_rank: 7 (pid: 7)\nRoot Cause:\n"
    outputs.add(None, f"{text}  rank      : 703 (local_rank: 7)\n  exitcode  : -9 (pid: 7)\n")
    assert list(outputs.ended()) == [703]
