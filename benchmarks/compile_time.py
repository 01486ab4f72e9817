"""Compile time of the toy example with Inductor, with `prepare_debug` against without.

Each run is a fresh process with cold caches of its own; runs with and without alternate, and the ratio is taken pair
by pair, so that what the machine does meanwhile falls on both. Seconds of the processor, those of the C++ compiler
among them, tell the same where others use the machine too.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

from benchmarks.bar import Bar, report

PAIRS = 5
LIMIT = 1.15


@dataclass(frozen=True)
class Seconds:
    """What a run took: by the clock, and of the processor."""

    clock: float
    processor: float

    @classmethod
    def now(cls) -> Seconds:
        """Return both clocks; only differences between them mean something."""
        times = os.times()
        return cls(time.perf_counter(), times.user + times.system + times.children_user + times.children_system)

    def since(self, began: Seconds) -> Seconds:
        """Return what passed between `began` and this."""
        return Seconds(self.clock - began.clock, self.processor - began.processor)


def _one_run(directory: str) -> Seconds:
    """Compile both ways through the toy example, dumping to `directory` unless it is empty; return what it took."""
    import torch

    import depyf
    from examples.toy_example import toy_example

    # Imports are none of a compile's time, with depyf or without.
    prepare_debug = depyf.prepare_debug
    torch.manual_seed(0)
    compiled = torch.compile(toy_example, backend="inductor")
    a, b = torch.randn(10), torch.rand(10)
    began = Seconds.now()
    with prepare_debug(directory) if directory else contextlib.nullcontext():
        compiled(a, b)
        compiled(a, -b)
    return Seconds.now().since(began)


def _in_a_process_of_its_own(dump: bool) -> Seconds:
    with tempfile.TemporaryDirectory() as scratch:
        # Without a pool of workers, so that all that is done is seen.
        environment = os.environ | {"TORCHINDUCTOR_COMPILE_THREADS": "1"}
        environment["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(scratch, "cache")
        directory = os.path.join(scratch, "dump") if dump else ""
        command = [sys.executable, "-m", "benchmarks.compile_time", "--run", directory]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    clock, processor = map(float, done.stdout.split()[-2:])
    return Seconds(clock, processor)


def measure(pairs: int = PAIRS) -> list[Bar]:
    """Run `pairs` pairs and return the median ratio as a bar."""
    by_clock, by_processor = [], []
    for number in range(pairs):
        # Which of a pair comes first changes, as the second finds the compiler's files in memory.
        order = (False, True) if number % 2 else (True, False)
        taken = {dump: _in_a_process_of_its_own(dump) for dump in order}
        ours, plain = taken[True], taken[False]
        by_clock.append(ours.clock / plain.clock)
        by_processor.append(ours.processor / plain.processor)
        print(f"pair {number}: {plain.clock:.2f} s without, {ours.clock:.2f} s with", flush=True)
    return [
        _bar("ratio of compile times", by_clock),
        _bar("ratio of processor times", by_processor),
    ]


def _bar(what: str, ratios: list[float]) -> Bar:
    ratio = statistics.median(ratios)
    listed = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    return Bar(what, f"{ratio:.3f}", ratio < LIMIT, note=listed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        taken = _one_run(sys.argv[2])
        print(taken.clock, taken.processor)
    else:
        report(measure())
