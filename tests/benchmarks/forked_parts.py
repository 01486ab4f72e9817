"""Parts of the check of a GPU in forks of one process that has imported torch and Inductor."""

from __future__ import annotations

import multiprocessing
import os
import sys
from multiprocessing.context import ForkServerContext
from pathlib import Path

from benchmarks.gpu_check import running
from benchmarks.gpu_check.plan import Part

IMPORTED = ["benchmarks.gpu_check.worker", "torch._inductor.compile_fx", "torch._dynamo.repro.after_dynamo"]


def context() -> ForkServerContext:
    """Return a context whose processes have imported what the parts need."""
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload([*IMPORTED, "depyf.torch.capture.prepare", "depyf.torch.dump.views", "transformers"])
    return forks


def run_part(forks: ForkServerContext, part: Part, device: str, folder: Path, seconds: float) -> str:
    """Run a part as `running.run_part` does, but in a fork.

    Args:
        forks: where the processes come from.
        part: the part.
        device: its device.
        folder: the folder of the check.
        seconds: the most seconds of the part.

    Returns:
        `running.DONE`, `running.FAILED` or `running.LATE`.
    """
    room = folder / part.letter
    room.mkdir(parents=True, exist_ok=True)
    arguments = (part.module, device, str(room), str(running.results(folder, part)), str(seconds))
    log = str(running.log(folder, part))
    process = forks.Process(target=_work, args=(arguments, running._environment(room, device), log))
    process.start()
    process.join(seconds)
    if process.is_alive():
        process.kill()
        return running.LATE
    return running.DONE if process.exitcode == 0 else running.FAILED


def _work(arguments: tuple[str, ...], environment: dict[str, str], log: str) -> None:
    import torch

    from benchmarks.gpu_check.worker import main

    os.environ.update(environment)
    torch.set_num_threads(1)
    with open(log, "w", encoding="utf-8") as output:
        os.dup2(output.fileno(), sys.stdout.fileno())
        os.dup2(output.fileno(), sys.stderr.fileno())
    main(*arguments)
