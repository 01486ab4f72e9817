"""Verdicts on jobs with several groups, where most ranks wait for ranks that wait, too."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.simulated_jobs.__main__ import is_right, judged
from benchmarks.simulated_jobs.files import write
from benchmarks.simulated_jobs.simulate import KINDS, simulated
from depyf.trace.job.files import find
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


def record(second: int, metadata: str) -> str:
    return f"V1128 14:22:{second:02d}.000000 7 torch/_dynamo/utils.py:1900] {metadata}\n"


def test_a_compile_before_the_process_group_does_not_make_two_processes_of_one(tmp_path: Path) -> None:
    for rank in (0, 1):
        start = '{"dynamo_start": {"stack": []}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}'
        later = (
            f'{{"dynamo_start": {{"stack": []}}, "rank": {rank}, "frame_id": 1, "frame_compile_id": 0, "attempt": 0}}'
        )
        path = tmp_path / f"dedicated_log_torch_trace_{'zy'[rank]}.log"
        path.write_text(record(rank, start) + record(9, later))
    assert [(source.rank, source.job) for source in find([str(tmp_path)])] == [(0, 0), (1, 0)]


def test_a_trace_without_ranks_has_none(tmp_path: Path) -> None:
    path = tmp_path / "dedicated_log_torch_trace_a.log"
    path.write_text(record(1, '{"dynamo_start": {"stack": []}, "frame_id": 0, "frame_compile_id": 0}'))
    assert [source.rank for source in find([str(path)])] == [None]
