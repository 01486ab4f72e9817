"""Run the jobs and keep what they leave: `python -m benchmarks.hung_jobs.make DIR [--fresh] [PROGRAM...]`.

This process imports torch once and forks the ranks of most jobs; those of dead ranks run under torchrun. A folder has
the traces, the recorder's dumps, the stacks, and the output of each rank. A job that has its folder is not run again.
"""

from __future__ import annotations

import os
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.hung_jobs.jobs import PROGRAMS, UNDER_TORCHRUN, Job, all_jobs, fresh_jobs

LIMIT, LIMIT_OF_FILL = 150.0, 600.0
"""Seconds that the ranks of a job, and the run that fills a cache, may take."""
HUNG_AFTER = {"cold_cache": "10"}
"""Seconds of waiting after which a job counts as hung, by program; 4 for the others."""
HEALTHY_MOMENTS = ("1.2,1.9,1.5,2.3", "2.0,1.4,2.4,1.1", "0.9,1.7,2.6,1.3")
WARM = "warm_cache"
FRESH = "--fresh"


def main(folder: Path, wanted: list[str]) -> None:
    """Run the jobs that have no folder yet."""
    import torch._dynamo
    import torch._inductor.compile_fx
    import torch.distributed  # noqa: F401 - the ranks inherit what is imported here

    folder.mkdir(parents=True, exist_ok=True)
    for job in fresh_jobs() if FRESH in wanted else all_jobs():
        place = folder / job.name
        if place.exists() or set(wanted) - {FRESH} and job.program not in wanted:
            continue
        began = time.perf_counter()
        (place / "logs").mkdir(parents=True)
        if job.program == "cold_cache":
            warm(folder, job, place)
        codes = under_torchrun(job, place) if job.program in UNDER_TORCHRUN else forked(job, place)
        shutil.rmtree(place / "caches", ignore_errors=True)
        for sign in (place / "hung", *place.glob("left_*")):
            sign.unlink(missing_ok=True)
        print(f"{job.name}: {time.perf_counter() - began:.1f} s, exit codes {codes}", flush=True)


def environment(job: Job, place: Path) -> dict[str, str]:
    """Return the environment of a job's ranks."""
    is_healthy = job.culprit < 0
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return {
        "WORLD_SIZE": str(job.ranks),
        "CULPRIT": str(job.culprit),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "JOB_FOLDER": str(place),
        "JOB_HANGS": "" if is_healthy else "1",
        "JOB_MOMENTS": HEALTHY_MOMENTS[job.number % len(HEALTHY_MOMENTS)]
        if is_healthy
        else HUNG_AFTER.get(job.program, "4"),
        "JOB_JSON": "1" if job.number in (1, 4) else "",
        "TORCH_TRACE": str(place),
        "TORCH_FR_BUFFER_SIZE": "40" if job.number == 2 else "2000",
        "TORCH_NCCL_TRACE_BUFFER_SIZE": "40" if job.number == 2 else "2000",
        "PYTHONPATH": os.pathsep.join([str(PROGRAMS), os.environ.get("PYTHONPATH", "")]),
    }


def forked(job: Job, place: Path) -> list[int]:
    """Run the ranks of a job as forks of this process, and return their exit codes."""
    shared = environment(job, place)
    children = [child(job, place, rank, shared, []) for rank in range(job.ranks)]
    return wait_for(children)


def child(job: Job, place: Path, rank: int, shared: dict[str, str], arguments: list[str]) -> int:
    """Start one rank and return its process id."""
    process = os.fork()
    if process:
        return process
    os.environ.update(shared, RANK=str(rank), LOCAL_RANK=str(rank))
    if job.program == "cold_cache":
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(place / "caches" / str(rank))
    log = os.open(place / "logs" / f"rank_{rank}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    import torch

    torch._logging._internal.LOG_TRACE_HANDLER = None
    torch._logging._internal._init_logs()
    sys.path.insert(0, str(PROGRAMS))
    sys.argv = [str(job.path), *arguments]
    code = 0
    try:
        runpy.run_path(str(job.path), run_name="__main__")
    except SystemExit as error:
        code = int(error.code or 0)
    except BaseException:  # noqa: BLE001 - what Python does at the end of a program: its hook prints and exits
        sys.excepthook(*sys.exc_info())
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def wait_for(children: list[int], limit: float = LIMIT) -> list[int]:
    """Return the exit codes of processes. Those that run for too long are killed."""
    codes: dict[int, int] = {}
    end = time.monotonic() + limit
    while len(codes) < len(children):
        for process in children:
            if process in codes:
                continue
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                codes[process] = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > end:
                os.kill(process, signal.SIGKILL)
        time.sleep(0.05)
    return [codes[process] for process in children]


def warm(folder: Path, job: Job, place: Path) -> None:
    """Give each rank but one a cache that an earlier run filled."""
    cache = folder / WARM
    if not cache.exists():
        scratch = Job(job.program, 1, 0, 0)
        logs = place / "caches" / "logs"
        logs.mkdir(parents=True)
        shared = {**environment(scratch, place), "TORCH_TRACE": str(place / "caches" / "trace")}
        if wait_for([child(scratch, place, 0, shared, ["fill"])], LIMIT_OF_FILL) != [0]:
            raise RuntimeError(f"the warm cache was not filled: {logs}")
        shutil.copytree(place / "caches" / "0", cache)
    for rank in range(job.ranks):
        rank_cache = place / "caches" / str(rank)
        shutil.rmtree(rank_cache, ignore_errors=True)
        if rank == job.culprit:
            rank_cache.mkdir(parents=True)
        else:
            shutil.copytree(cache, rank_cache)


def under_torchrun(job: Job, place: Path) -> list[int]:
    """Run a job under torchrun, and return its exit code."""
    shared = environment(job, place)
    for name in ("WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        del shared[name]
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(job.ranks), "--standalone"]
    command += ["--log-dir", str(place / "logs"), "-r", "3", str(job.path)]
    with open(place / "torchrun.log", "w", encoding="utf-8") as log:
        process = subprocess.Popen(command, env={**os.environ, **shared}, stdout=log, stderr=log)
        try:
            return [process.wait(LIMIT)]
        except subprocess.TimeoutExpired:
            process.terminate()
            return [process.wait(LIMIT)]


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
