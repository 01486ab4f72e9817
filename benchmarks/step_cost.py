"""The cost of a trainer's callback in a steady step, after the captured steps.

    python -m benchmarks.step_cost

All callbacks of `depyf.integrations` use one capture. Two loops take turns, one with the capture and one without, with
one thread. The time is that of the processor, because other programs may run. Exit code 1 if a step costs more than
1.01 of a step without.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks.bar import Bar, report
from depyf.integrations.capture import StepCapture

MOST = 1.01
ROUNDS = 300
STEPS = 4


def _training() -> Callable[[], None]:
    torch._dynamo.reset()
    model = torch.nn.Sequential(*(torch.nn.Linear(256, 256) for _ in range(6)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    compiled = torch.compile(model, backend="aot_eager")
    data = torch.randn(64, 256)

    def step() -> None:
        optimizer.zero_grad()
        compiled(data).square().mean().backward()
        optimizer.step()

    return step


def _timed(step: Callable[[], None], capture: StepCapture | None) -> float:
    """Return the time of the processor for a block of steps, in seconds for each."""
    began = time.process_time()
    for _ in range(STEPS):
        if capture is not None:
            capture.step_begins()
        step()
        if capture is not None:
            capture.step_ends()
    return (time.process_time() - began) / STEPS


def main() -> None:
    """Print the bar."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        step = _training()
        capture = StepCapture(Path(scratch), steps=3)
        capture.begin()
        _timed(step, capture)
        plain: list[float] = []
        watched: list[float] = []
        for number in range(ROUNDS):
            order = ((plain, None), (watched, capture))
            for times, active in order if number % 2 else reversed(order):
                times.append(_timed(step, active))
    ratio = statistics.median(watched) / statistics.median(plain)
    note = f"{1e3 * statistics.median(plain):.2f} ms without"
    report([Bar("a steady step with a callback, in steps without", f"{ratio:.3f}", ratio <= MOST, note=note)])


if __name__ == "__main__":
    main()
