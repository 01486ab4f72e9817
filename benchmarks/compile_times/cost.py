"""What `--compile-times` adds to a cold compile of twelve layers, in pairs of fresh processes.

The first call is timed inside the process. Imports are warm, so that nothing but the compile is compared. The time of
the processor does not change when others use the machine, too.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.bar import Bar

LIMIT = 1.05
BACKENDS = ("eager", "aot_eager")


def measure(pairs: int) -> list[Bar]:
    """Run pairs of processes for each backend; return the median ratios as bars."""
    bars = []
    for backend in BACKENDS:
        ratios = []
        for number in range(pairs):
            order = (False, True) if number % 2 else (True, False)
            taken = {timed: _in_a_process(backend, timed) for timed in order}
            ratios.append(taken[True] / taken[False])
            print(f"{backend}, pair {number}: {taken[False]:.3f} s, measured {taken[True]:.3f} s", flush=True)
        ratio = statistics.median(ratios)
        ratios_in_words = ", ".join(f"{ratio_of_pair:.3f}" for ratio_of_pair in sorted(ratios))
        what = f"processor time of a compile with --compile-times against one without, {backend}"
        bars.append(Bar(what, f"{ratio:.3f}", ratio <= LIMIT, note=ratios_in_words))
    return bars


def _in_a_process(backend: str, timed: bool) -> float:
    command = [sys.executable, "-m", "benchmarks.compile_times.cost", backend, *(["timed"] if timed else [])]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ)
    return float(done.stdout.split()[-1])


def _one_run(backend: str, timed: bool) -> float:
    """Return the seconds of the processor that the first step of a model takes."""
    import torch

    from corpus.repeated_blocks import Residual
    from depyf.torch.capture.compile_times import CompileTiming
    from depyf.torch.capture.prepare import prepare_debug

    model = torch.nn.Sequential(*(Residual(32, 64) for _ in range(12)))
    x = torch.randn(4, 32)
    torch.compile(Residual(8, 8), backend=backend)(torch.randn(2, 8)).sum().backward()
    torch._dynamo.reset()
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as stack:
        stack.enter_context(prepare_debug(Path(scratch)))
        if timed:
            timing = CompileTiming()
            timing.begin()
            stack.callback(timing.end)
        began = time.process_time()
        torch.compile(model, backend=backend)(x).sum().backward()
        return time.process_time() - began


if __name__ == "__main__":
    print(_one_run(sys.argv[1], "timed" in sys.argv[2:]))
