"""A dask cluster of worker processes, one killed in the middle; and a job that is followed while it runs."""

from __future__ import annotations

import functools
import gzip
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from depyf.trace.job.files import find
from depyf.trace.job.reporting import Options, dump_jobs

DATA = Path(__file__).parent / "data"
RANKS = DATA / "ranks"


def files(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


class Killing:
    """Kills a worker of a cluster, and waits until it is gone, before it hands over the second result."""

    def __init__(self, executor: Any, workers: list[int]) -> None:
        self.executor, self.workers = executor, workers

    def map(self, fn: Callable[..., Any], *iterables: Iterable[Any]) -> Iterator[Any]:
        results = self.executor.map(fn, *iterables)
        yield next(results)
        os.kill(self.workers[0], signal.SIGKILL)
        yield from results


@pytest.mark.slow
def test_a_worker_of_a_dask_cluster_that_is_killed_changes_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="the cluster is dask's")
    monkeypatch.setattr("depyf.trace.job.work.MOST_FILES", 1)
    job = tmp_path / "job"
    job.mkdir()
    for rank in range(12):
        source = RANKS / f"dedicated_log_torch_trace_rank_{3 if rank == 7 else rank % 3}_x.log.gz"
        (job / f"dedicated_log_torch_trace_rank_{rank}_x.log").write_bytes(gzip.decompress(source.read_bytes()))
    sources = find([str(job)])
    dump_jobs(sources, tmp_path / "plain", Options())
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = list(client.run(os.getpid).values())
        assert os.getpid() not in workers
        dump_jobs(sources, tmp_path / "killed", Options(Killing(client.get_executor(), workers)))  # type: ignore[arg-type]
    assert files(tmp_path / "killed") == files(tmp_path / "plain")


def test_a_running_job_is_followed(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="the report needs jinja2")
    text = gzip.decompress((DATA / "small_2.13.log.gz").read_bytes())
    half = text[: text.index(b'"recompile_reasons"')].rpartition(b"\n")[0] + b"\n"
    job, out = tmp_path / "job", tmp_path / "out"
    job.mkdir()
    for rank in (0, 1):
        (job / f"dedicated_log_torch_trace_rank_{rank}_x.log").write_bytes(half)
    command = [sys.executable, "-u", "-m", "depyf", "report", str(job), "-o", str(out), "--follow"]
    # A shell has what it runs in the background ignore interrupts, and the child would too.
    heard = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heard
    ) as process:
        assert process.stdout is not None
        guard = threading.Timer(120, process.kill)
        guard.start()
        try:
            assert process.stdout.readline().strip() == str(out / "report" / "index.html")
            before = (out / "ranks.json").read_text()
            assert '"divergences": []' in before
            with open(job / "dedicated_log_torch_trace_rank_1_x.log", "ab") as file:
                file.write(text[len(half) :])
            assert process.stdout.readline().strip() == str(out / "report" / "index.html")
            assert '"divergences": []' not in (out / "ranks.json").read_text()
        finally:
            guard.cancel()
            process.send_signal(signal.SIGINT)
        assert (process.wait(60), process.stderr.read() if process.stderr else "") == (0, "")
