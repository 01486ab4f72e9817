"""Compile time of the toy example with Inductor, with `prepare_debug` against without.

Each run is a fresh process with cold caches of its own; runs with and without alternate, and the ratio is taken pair
by pair, so that what the machine does meanwhile falls on both.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks.bar import Bar, report

PAIRS = 5
LIMIT = 1.15


def _one_run(directory: str) -> float:
    """Compile both ways through the toy example, dumping to `directory` unless it is empty; return the seconds."""
    import torch

    import depyf
    from examples.toy_example import toy_example

    torch.manual_seed(0)
    compiled = torch.compile(toy_example, backend="inductor")
    a, b = torch.randn(10), torch.rand(10)
    began = time.perf_counter()
    with depyf.prepare_debug(directory) if directory else contextlib.nullcontext():
        compiled(a, b)
        compiled(a, -b)
    return time.perf_counter() - began


def _in_a_process_of_its_own(dump: bool) -> float:
    with tempfile.TemporaryDirectory() as scratch:
        environment = os.environ | {"TORCHINDUCTOR_CACHE_DIR": os.path.join(scratch, "cache")}
        directory = os.path.join(scratch, "dump") if dump else ""
        command = [sys.executable, "-m", "benchmarks.compile_time", "--run", directory]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def measure(pairs: int = PAIRS) -> list[Bar]:
    """Run `pairs` pairs and return the median ratio as a bar."""
    ratios = []
    for number in range(pairs):
        # Which of a pair comes first changes, as the second finds the compiler's files in memory.
        order = (False, True) if number % 2 else (True, False)
        seconds = {dump: _in_a_process_of_its_own(dump) for dump in order}
        ratios.append(seconds[True] / seconds[False])
        print(f"pair {number}: {seconds[False]:.2f} s without, {seconds[True]:.2f} s with", flush=True)
    ratio = statistics.median(ratios)
    each = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    return [Bar("compile time with against without, median of pairs", f"{ratio:.3f} ({each})", ratio < LIMIT)]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        print(_one_run(sys.argv[2]))
    else:
        report(measure())
