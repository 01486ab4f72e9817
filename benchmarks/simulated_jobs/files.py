"""Write what a simulated job leaves: recorder dumps, and stacks, traces and logs of some ranks."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.simulated_jobs.simulate import TENSOR_LINE, Rank, Simulated, group_names

LIBRARY = "/venv/lib/python3.11/site-packages/torch"
PROGRAM = "/home/me/train.py"
LOADER_LINE, ERROR_LINE, COMPILE_LINE = 12, 33, 40
SAMPLES = 16
"""The healthy ranks that leave stacks and traces, too."""


def write(job: Simulated, folder: Path) -> None:
    """Write the files of a job into a folder."""
    is_dead = job.kind.startswith("died")
    groups = {name: {"name": name, "desc": name, "ranks": str(ranks)} for name, ranks in job.members.items()}
    world = {name: group for name, group in groups.items() if name == "0"}
    for rank in job.ranks:
        if not (is_dead and rank.number in job.victims):
            described = world | {name: groups[name] for name in group_names(rank.number)}
            _write_dump(rank, folder, described, job.taken)
    sample = [rank for rank in job.ranks if rank.number not in job.victims][:SAMPLES]
    for rank in sample:
        _write_stack(folder, rank.number, _waiting(rank))
    for number in job.victims:
        _write_victim(job, number, folder)
    if job.kind in ("late compile", "cold host"):
        for rank in sample:
            _write_trace(folder, rank.number, job, is_late=False)


def _write_dump(rank: Rank, folder: Path, groups: Mapping[str, object], taken: float) -> None:
    counts: dict[str, int] = {}
    frames: dict[int, list[dict[str, object]]] = {}
    entries = []
    for place, (call, moment) in enumerate(zip(rank.calls, rank.times, strict=False)):
        counts[call.group] = counts.get(call.group, 0) + 1
        inner = {"filename": f"{LIBRARY}/distributed/distributed_c10d.py", "line": 3252, "name": call.operation}
        user = {"filename": PROGRAM, "line": call.line, "name": "step"}
        entries.append(
            {
                "record_id": place,
                "pg_id": 0,
                "process_group": (call.group, call.group if call.group != "0" else "default_pg"),
                "collective_seq_id": counts[call.group],
                "p2p_seq_id": 0,
                "op_id": place,
                "profiling_name": f"nccl:{call.operation}",
                "time_created_ns": int(moment * 1e9),
                "input_sizes": [list(call.sizes)] if call.dtype else [],
                "input_dtypes": [call.dtype] if call.dtype else [],
                "state": "completed" if place < rank.done else "scheduled",
                "retired": place < rank.done,
                "is_p2p": False,
                "frames": frames.setdefault(call.line, [inner, user]),
            }
        )
    path = folder / f"nccl_trace_rank_{rank.number}"
    path.write_bytes(pickle.dumps({"version": "2.10", "pg_config": dict(groups), "entries": entries}, 2))
    os.utime(path, (taken, taken))


def _waiting(rank: Rank) -> str:
    line = rank.calls[rank.done].line if rank.done < len(rank.calls) else TENSOR_LINE
    return (
        f'  File "{LIBRARY}/distributed/distributed_c10d.py", line 3252 in all_reduce\n'
        f'  File "{PROGRAM}", line {line} in step\n  File "{PROGRAM}", line 90 in <module>\n'
    )


def _write_stack(folder: Path, number: int, frames: str) -> None:
    (folder / f"stack_{number}.txt").write_text(f"Thread 0x00007f (most recent call first):\n{frames}")


def _write_victim(job: Simulated, number: int, folder: Path) -> None:
    rank = job.ranks[number]
    match job.kind:
        case "late compile" | "cold host":
            frames = f'  File "{LIBRARY}/_dynamo/convert_frame.py", line 900 in compile_inner\n'
            frames += f'  File "{PROGRAM}", line {COMPILE_LINE} in step\n  File "{PROGRAM}", line 90 in <module>\n'
            _write_stack(folder, number, frames)
            _write_trace(folder, number, job, is_late=True)
        case "slow loader":
            frames = f'  File "{PROGRAM}", line {LOADER_LINE} in load\n  File "{PROGRAM}", line 90 in <module>\n'
            _write_stack(folder, number, frames)
        case "died by an error":
            text = "Traceback (most recent call last):\n"
            text += f'  File "{PROGRAM}", line 90, in <module>\n  File "{PROGRAM}", line {ERROR_LINE}, in step\n'
            (folder / f"rank_{number}.log").write_text(f"{text}torch.OutOfMemoryError: CUDA out of memory\n")
        case "died by a signal":
            text = f"failed (exitcode: -9) local_rank: {number % 8} (pid: 7) of binary: python\n"
            text += f"Root Cause:\n[0]:\n  time      : 2026-01-01\n  rank      : {number} (local_rank: {number % 8})\n"
            (folder / "torchrun.log").write_text(f"{text}  exitcode  : -9 (pid: 7)\n  error_file: <N/A>\n")
        case _:
            _write_stack(folder, number, _waiting(rank))


def _write_trace(folder: Path, number: int, job: Simulated, *, is_late: bool) -> None:
    """Write a trace in which compile 0/1 ends after a second, or has not ended."""
    began = job.taken - 60.0
    start = '{"dynamo_start": {"stack": [{"line": 40, "name": "step", "filename": 0}]}, '
    head = '"frame_id": 0, "frame_compile_id": 1, "attempt": 0}'
    lines = [_line(began, '{"str": ["' + PROGRAM + '", 0]}'), _line(began, start + head)]
    if not is_late:
        metrics = '{"compilation_metrics": {"co_name": "step", "entire_frame_compile_time_s": 1.0}, '
        lines.append(_line(began + 1, metrics + head))
    path = folder / f"dedicated_log_torch_trace_rank_{number}_ab.log"
    path.write_text("".join(lines))


def _line(moment: float, text: str) -> str:
    when = time.strftime("%m%d %H:%M:%S", time.localtime(moment))
    return f"V{when}.{int(moment % 1 * 1e6):06d} 7 torch/_dynamo/utils.py:1900] {text}\n"
