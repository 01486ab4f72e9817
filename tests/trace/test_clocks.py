"""Clocks of ranks, aligned by their collectives, and the rows of a timeline."""

from __future__ import annotations

import json
import os
import pickle
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.clocks import job, worst_error
from benchmarks.simulated_jobs.files import write
from benchmarks.simulated_jobs.simulate import simulated
from depyf.cli.report import report
from depyf.trace.job.clocks import clocks_of
from depyf.trace.job.recorder import Call, Recorded

SECOND = 10**9


@pytest.mark.parametrize("has_ends", [True, False])
def test_skews_and_drifts_are_recovered_within_the_shortest_collective(has_ends: bool) -> None:
    dumps, hosts, shortest = job(random.Random(7), has_ends=has_ends)
    error, beyond = worst_error(dumps, hosts)
    assert error <= shortest
    assert beyond == 0


def recorded(rank: int, lead: float, operation: str = "all_reduce", group: str = "0") -> Recorded:
    begin = [1000 + number + lead for number in range(5)]
    calls = {
        (group, number): Call(operation, "", "", int(at * SECOND), True, int((at + 0.25) * SECOND))
        for number, at in enumerate(begin)
    }
    return Recorded(rank, calls)


def test_a_lead_is_shown_with_its_uncertainty() -> None:
    clock = clocks_of([recorded(0, 0.0), recorded(1, 3.0)])[1]
    assert clock.corrected(1003.0) == pytest.approx(1000.0, abs=1e-6)
    assert clock.uncertainty == pytest.approx(0.25, abs=1e-6)


@pytest.mark.parametrize(("operation", "group"), [("broadcast", "0"), ("all_reduce", "1")])
def test_ranks_that_nothing_relates_are_not_aligned(operation: str, group: str) -> None:
    clocks = clocks_of([recorded(0, 0.0, operation), recorded(1, 3.0, operation, group)])
    assert clocks[1].uncertainty == float("inf")


def test_equal_ranks_of_a_large_job_share_a_row(tmp_path: Path) -> None:
    large = simulated("slow loader", 48, random.Random(3))
    write(large, tmp_path)
    out = tmp_path / "time.json"
    result = CliRunner().invoke(report, [str(tmp_path), "--perfetto", str(out)])
    assert result.exit_code == 0, result.output
    events = json.loads(out.read_text())["traceEvents"]
    rows = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert len(rows) < 10
    assert any(row.startswith(f"rank {large.victims[0]} ") for row in rows)
    waits = [event for event in events if event["name"].startswith("waits at all_reduce")]
    assert waits and all(event["dur"] > 50e6 for event in waits)


def test_the_rows_of_two_hosts_are_on_one_clock(tmp_path: Path) -> None:
    for rank, lead in ((0, 0), (1, 5)):
        entries = [
            {
                "record_id": number,
                "collective_seq_id": number,
                "process_group": ("0", "default_pg"),
                "profiling_name": "nccl:all_reduce",
                "time_created_ns": (1000 + lead + number) * SECOND,
                "time_discovered_completed_ns": (1000 + lead + number) * SECOND + SECOND // 2,
                "retired": True,
            }
            for number in range(4)
        ]
        path = tmp_path / f"trace_{rank}"
        path.write_bytes(pickle.dumps({"entries": entries}, 2))
        os.utime(path, (2000, 2000))
    out = tmp_path / "time.json"
    result = CliRunner().invoke(report, [str(tmp_path), "--perfetto", str(out)])
    assert result.exit_code == 0, result.output
    events = [event for event in json.loads(out.read_text())["traceEvents"] if event["name"] == "all_reduce #2"]
    assert events[0]["ts"] == pytest.approx(events[1]["ts"], abs=1)
