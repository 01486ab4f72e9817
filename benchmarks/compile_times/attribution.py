"""The share of the time of compiling that is in named cells.

The whole is measured beside depyf: the time of four calls of a model, less four times that of the fastest. Both are
the time of the processor, of this process and its compilers: other work on the machine does not change it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from benchmarks.bar import Bar
from corpus.repeated_blocks import MODELS
from depyf.model.compile_times import REST, CompileTimes
from depyf.torch.capture.compile_times import CompileTiming
from depyf.torch.capture.prepare import prepare_debug
from depyf.trace.start_clock import processor_time

LEAST = 0.95
CALLS = 4
OF_INDUCTOR = ("perceptron", "encoder", "residual network")


def timed(directory: Path, run: Callable[[], object], now: Callable[[], int] = processor_time) -> CompileTimes:
    """Return the compile times of a call on a fresh Dynamo. `now` returns nanoseconds."""
    torch._dynamo.reset()
    with prepare_debug(directory) as session:
        timing = CompileTiming(now=now)
        timing.begin()
        try:
            run()
        finally:
            timing.end()
    return timing.times(session)


def measure(models: int) -> list[Bar]:
    """Measure models with eager and aot_eager, with gradients, and three with Inductor; return the bars."""
    torch.set_num_threads(1)  # threads that wait for each other would disturb the time of a call
    shares: list[tuple[float, str]] = []
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(scratch, "inductor")
        for name, backend in _cases(models):
            shares.append((_share(name, backend, Path(scratch) / "dump"), f"{name}, {backend}"))
            print(f"{shares[-1][0]:.3f}  {shares[-1][1]}", flush=True)
    enough = [share for share, _ in shares if share >= LEAST]
    below = [f"{share:.3f} {case}" for share, case in shares if share < LEAST]
    note = f"least {min(shares)[0]:.3f}, {min(shares)[1]}"
    what = f"compiles with at least {100 * LEAST:.0f} % of the time of a first call in named cells"
    return [Bar(what, f"{len(enough)} of {len(shares)}", not below, below, note)]


def _cases(models: int) -> Iterator[tuple[str, str]]:
    for name in list(MODELS)[:models]:
        yield name, "eager"
        yield name, "aot_eager"
    for name in OF_INDUCTOR:
        yield name, "inductor"


def _share(name: str, backend: str, directory: Path) -> float:
    model, arguments = MODELS[name].make()
    compiled = torch.compile(model, backend=backend)
    taken: list[float] = []

    def called() -> None:
        for _ in range(CALLS):
            began = processor_time()
            _step(compiled, arguments)
            taken.append((processor_time() - began) / 1e9)

    times = timed(directory, called)
    named = times.seconds - times.by_stage().get(REST, 0.0)
    return named / (sum(taken) - CALLS * min(taken))


def _step(compiled: Any, arguments: dict[str, Any]) -> None:  # noqa: ANN401 - a model of any class
    outputs = compiled(**arguments)
    tensor = outputs if isinstance(outputs, torch.Tensor) else outputs[0]
    tensor.sum().backward()
