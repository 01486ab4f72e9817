"""Run jobs in worker processes. If one crashes or hangs, only its job is lost."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Generic, TypeVar

from depyf.bytecode.records import dataclass

Job = TypeVar("Job")
Result = TypeVar("Result")

POLL = 0.5
"""Seconds between two checks for jobs over their time limit."""
# A fresh interpreter, so that workers do not inherit threads, locks or terminals.
CONTEXT = multiprocessing.get_context("spawn")


@dataclass(frozen=True, slots=True)
class Lost:
    """A job without a result."""

    reason: str


@dataclass(slots=True)
class _Worker(Generic[Job]):
    process: multiprocessing.process.BaseProcess
    pipe: Connection
    job: Job | None = None
    since: float = 0.0


def run_jobs(
    function: Callable[[Job], Result], jobs: Sequence[Job], *, count: int, limit: float
) -> Iterator[tuple[Job, Result | Lost]]:
    """Yield each job when it is done, with its result or the reason why it has none.

    Args:
        function: a module-level function that raises nothing; its argument and result are pickled.
        jobs: the jobs, in the order in which they are started.
        count: the largest number of processes.
        limit: the time limit for a job, in seconds. A process that takes longer is killed and replaced.
    """
    waiting = list(reversed(jobs))
    workers: list[_Worker[Job]] = []
    try:
        while waiting or any(worker.job is not None for worker in workers):
            workers = [worker for worker in workers if worker.process.is_alive() or worker.job is not None]
            while len(workers) < min(count, len(waiting) + len(workers)):
                workers.append(_start(function))
            for worker in workers:
                if worker.job is None and waiting:
                    _hand(worker, waiting.pop())
            ready = wait([worker.pipe for worker in workers if worker.job is not None], timeout=POLL)
            for worker in workers:
                if worker.job is None:
                    continue
                if worker.pipe in ready:
                    yield worker.job, _received(worker)
                    worker.job = None
                elif time.monotonic() - worker.since > limit:
                    _end(worker)
                    yield worker.job, Lost(f"it took more than {limit:g} s")
                    worker.job = None
    finally:
        for worker in workers:
            _end(worker)


def _start(function: Callable[[Job], Result]) -> _Worker[Job]:
    here, there = CONTEXT.Pipe()
    process = CONTEXT.Process(target=_serve, args=(function, there), daemon=True)
    process.start()
    there.close()
    return _Worker(process, here)


def _hand(worker: _Worker[Job], job: Job) -> None:
    worker.job, worker.since = job, time.monotonic()
    try:
        worker.pipe.send(job)
    except OSError:
        return  # The process has ended; reading its result will report that.


def _received(worker: _Worker[Job]) -> Result | Lost:
    try:
        result: Result = worker.pipe.recv()
        return result
    except (EOFError, OSError):
        _end(worker)
        return Lost(f"its process ended with exit code {worker.process.exitcode}")


def _end(worker: _Worker[Job]) -> None:
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()


def _serve(function: Callable[[Job], Result], pipe: Connection) -> None:
    """Process jobs until the pipe is closed."""
    while True:
        try:
            job = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        pipe.send(function(job))
