"""The verdict of a job that hangs or broke, from dumps, stacks and outputs; and silence about healthy jobs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from depyf.cli.report import report
from depyf.trace.job.evidence import Compiling, Evidence, evidence_of
from depyf.trace.job.hang import verdict_of
from depyf.trace.job.outputs import Outputs
from depyf.trace.job.stacks import stack_of
from depyf.trace.job.verdict import Cause, Verdict

SECOND = 1_000_000_000
BEGAN = 1_700_000_000


def write_dump(folder: Path, rank: int, calls: list[tuple[str, str, int, bool]], taken: float) -> None:
    """Write a dump: calls by group, operation, line, and whether they are done, one each 10 ms."""
    numbers: dict[str, int] = {}
    entries = []
    for place, (group, operation, line, is_done) in enumerate(calls):
        numbers[group] = numbers.get(group, 0) + 1
        entries.append(
            {
                "record_id": place,
                "collective_seq_id": numbers[group],
                "process_group": [group, "dp"],
                "profiling_name": f"gloo:{operation}",
                "input_sizes": [[4]],
                "input_dtypes": ["Float"],
                "is_p2p": False,
                "time_created_ns": BEGAN * SECOND + place * SECOND // 100,
                "retired": is_done,
                "frames": [{"filename": "/home/me/train.py", "line": line, "name": "step"}],
            }
        )
    path = folder / f"recorder_{rank}.json"
    path.write_text(json.dumps({"version": "2.10", "entries": entries}))
    os.utime(path, (BEGAN + taken, BEGAN + taken))


def verdict(folder: Path) -> Verdict | None:
    return verdict_of(evidence_of([str(folder)]))


STEP = [("0", "all_reduce", 10, True), ("0", "broadcast", 11, True)]


def test_a_skipped_collective_is_named_with_its_line(tmp_path: Path) -> None:
    for rank in range(3):
        last = ("0", "broadcast", 11, False) if rank == 1 else ("0", "all_reduce", 10, False)
        write_dump(tmp_path, rank, [*STEP, *STEP, last], 9)
    result = verdict(tmp_path)
    assert result is not None
    assert (result.cause, result.ranks, result.place) == (Cause.BRANCH, (1,), "train.py:10")


@pytest.mark.parametrize("moment", [0.03, 0.5])
def test_dumps_of_different_moments_are_no_hang(tmp_path: Path, moment: float) -> None:
    write_dump(tmp_path, 0, [*STEP, ("0", "all_reduce", 10, False)], moment)
    write_dump(tmp_path, 1, STEP, 0.02)
    assert verdict(tmp_path) is None


def test_a_completed_collective_of_another_rank_is_no_hang(tmp_path: Path) -> None:
    write_dump(tmp_path, 0, [*STEP, *STEP], 9)
    write_dump(tmp_path, 1, STEP, 0.02)
    assert verdict(tmp_path) is None


def hung(folder: Path) -> Evidence:
    for rank in range(3):
        write_dump(folder, rank, STEP if rank == 1 else [*STEP, ("0", "all_reduce", 10, False)], 9)
    return evidence_of([str(folder)])


def test_a_rank_that_compiles_while_others_wait(tmp_path: Path) -> None:
    evidence = hung(tmp_path)
    evidence.compiling[1] = Compiling("0/3 of step", "fx_graph cache: miss", 8.9, 0.5)
    result = verdict_of(evidence)
    assert result is not None
    assert result.cause is Cause.COMPILING
    assert result.text == (
        "Rank 1 has compiled `0/3 of step` for 9 s (fx_graph cache: miss), "
        "so ranks 0, 2 waits 9 s at all_reduce #3 of group `dp`, train.py:10"
    ).replace("2 waits", "2 wait")


def test_a_compile_that_takes_as_long_elsewhere_is_not_late(tmp_path: Path) -> None:
    evidence = hung(tmp_path)
    evidence.compiling[1] = Compiling("0/3 of step", "", 8.9, 8.0)
    assert verdict_of(evidence) is None


def test_a_cache_that_missed_on_one_rank_alone_is_a_cause_before_the_compile_is_late(tmp_path: Path) -> None:
    evidence = hung(tmp_path)
    evidence.compiling[1] = Compiling("0/3 of step", "fx_graph cache: miss", 8.9, 8.0, misses_alone=True)
    result = verdict_of(evidence)
    assert result is not None
    assert (result.cause, result.ranks) == (Cause.COMPILING, (1,))


def test_without_other_files_the_candidates_are_named(tmp_path: Path) -> None:
    result = verdict_of(hung(tmp_path))
    assert result is not None
    assert (result.cause, result.ranks, result.is_sure) == (Cause.ABSENT, (1,), False)
    assert len(result.candidates) == 2


def test_the_stack_names_the_line_of_a_slow_rank(tmp_path: Path) -> None:
    hung(tmp_path)
    (tmp_path / "stack_1.txt").write_text(
        'Thread 0x01 (most recent call first):\n  File "/home/me/data.py", line 7 in load\n'
        '  File "/home/me/train.py", line 9 in <module>\n'
    )
    result = verdict(tmp_path)
    assert result is not None
    assert (result.cause, result.ranks, result.place) == (Cause.SLOW, (1,), "data.py:7")


def test_two_groups_in_another_order(tmp_path: Path) -> None:
    for rank in range(3):
        calls = [("a", "all_reduce", 10, True), ("b", "all_reduce", 11, True)]
        calls.append(("b", "all_reduce", 11, False) if rank == 2 else ("a", "all_reduce", 10, False))
        write_dump(tmp_path, rank, calls, 9)
    result = verdict(tmp_path)
    assert result is not None
    assert (result.cause, result.ranks, result.place) == (Cause.GROUPS, (2,), "train.py:11")


def test_a_rank_that_died_is_told_from_those_that_lost_it() -> None:
    outputs = Outputs()
    outputs.add(
        0, '[rank0]: Traceback (most recent call last):\n  File "/me/t.py", line 3\nRuntimeError: gloo: closed\n'
    )
    outputs.add(1, '[rank1]: Traceback (most recent call last):\n  File "/me/t.py", line 9\nIndexError: no such file\n')
    outputs.add(None, "  rank      : 2 (local_rank: 2)\n  exitcode  : -15 (pid: 3) (SIGTERM)\n")
    result = verdict_of(Evidence(ended=dict(outputs.ended())))
    assert result is not None
    assert (result.cause, result.ranks, result.place) == (Cause.DEAD, (1,), "t.py:9")


def test_both_forms_of_stacks() -> None:
    torch = "/v/lib/python3.11/site-packages/torch"
    spy = f'Thread 7 (idle): "MainThread"\n    all_reduce ({torch}/distributed/distributed_c10d.py:9)\n    f (t.py:4)\n'
    handler = f'Thread 0x1 (most recent call first):\n  File "{torch}/_dynamo/convert_frame.py", line 8 in g\n'
    handler += '  File "/me/t.py", line 5 in <module>\n'
    waits, compiles = stack_of(spy), stack_of(handler)
    assert waits is not None and compiles is not None
    assert (waits.place, waits.waits, waits.compiles) == ("t.py:4", True, False)
    assert (compiles.place, compiles.waits, compiles.compiles) == ("t.py:5", False, True)


def test_the_command_prints_the_verdict_first(tmp_path: Path) -> None:
    for rank in range(3):
        last = ("0", "broadcast", 11, False) if rank == 1 else ("0", "all_reduce", 10, False)
        write_dump(tmp_path, rank, [*STEP, *STEP, last], 9)
    result = CliRunner().invoke(report, [str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("Rank 1 called broadcast(")
    assert "Fix: let every rank of the group make the same calls" in result.output
