"""Where does the step of a model go? Models of real architectures under `depyf.profile`, with Inductor.

    python -m benchmarks.profiled_models [NAME ...]

prints for each, in a process of its own: the share of the step in buckets with a name; what lines of the user's stand
for; the sum of all buckets by the median step without the profiler; the median step with the profiler by that without,
and the spread of the latter (quartiles by median); the kernels by the profiler's own events.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

import torch
from torch import Tensor

import depyf
from corpus.profiled_families import FAMILIES, Family
from depyf.links.profile.events import STEP, pays_for_a_compile, periods

STEPS, SECONDS = 400, 4.0
"""At least so many steps, and for at least so long."""


@dataclass(frozen=True)
class Result:
    """What was measured of one model: parts are of the step."""

    named: float
    lined: float
    step: float
    total: float
    cost: float
    spread: float
    worst_kernel: float
    unlinked: tuple[str, ...]


def _step(family: Family) -> Callable[[], None]:
    torch.manual_seed(0)
    model = family.build()
    model.train(family.is_training)
    compiled = torch.compile(model)
    inputs = family.inputs()
    if not family.is_training:

        def infer() -> None:
            with torch.no_grad():
                compiled(**inputs)

        return infer
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def train() -> None:
        _loss(compiled(**inputs)).backward()
        optimizer.step()
        optimizer.zero_grad()

    return train


def _loss(output: Any) -> Tensor:  # noqa: ANN401 - what a model gives
    values = output.values() if isinstance(output, dict) else [output]
    return next(value for value in values if isinstance(value, Tensor) and value.is_floating_point()).pow(2).mean()


def measured(family: Family) -> Result:
    """Profile a model."""
    # Two threads wait for each other: where one core is taken away, a step takes ten times as long.
    torch.set_num_threads(1)
    step = _step(family)
    with tempfile.TemporaryDirectory() as folder, depyf.profile(Path(folder) / "dump") as profile:
        begun = time.perf_counter()
        taken = 0
        while taken < STEPS or time.perf_counter() - begun < SECONDS:
            step()
            profile.step()
            taken += 1
    result = profile.result
    whole, bare = result["step"]["seconds"], result["step"]["without_profiler"]
    low, middle, high = quantiles(result["step"]["each_without_profiler"], n=4)
    lined = sum(row["seconds"] for row in result["lines"])
    unlinked = tuple(kernel["name"] for kernel in result["kernels"] if not kernel["lines"])
    return Result(
        named=result["step"]["named"],
        lined=lined / whole,
        step=whole,
        total=sum(result["kinds"].values()) / bare,
        cost=median(result["step"]["each_step"]) / middle,
        spread=(high - low) / middle,
        worst_kernel=_worst_kernel(profile, result),
        unlinked=unlinked,
    )


def _worst_kernel(profile: depyf.profile, result: dict[str, Any]) -> float:
    """Return by what part a kernel of Inductor's differs most from the mean of the profiler's own events."""
    kept = set(result["step"]["each_step"])
    totals: dict[str, list[float]] = defaultdict(list)
    steps = [
        period
        for window in profile.recording.windows
        for period in periods(window, STEP)
        if period.seconds in kept and not pays_for_a_compile(period)
    ]
    for period in steps:
        seconds_by_kernel: dict[str, float] = defaultdict(float)
        for event in period.events:
            if "_fused_" in event.name:
                seconds_by_kernel[event.name] += (event.end - event.start) / 1e9
        for name, seconds in seconds_by_kernel.items():
            totals[name].append(seconds)
    ours: dict[str, float] = defaultdict(float)
    for row in result["kernels"]:
        ours[row["name"]] += row["seconds"]
    return max((abs(ours[name] / mean(times) - 1) for name, times in totals.items()), default=0.0)


def _print(name: str) -> None:
    result = measured(FAMILIES[name])
    print(
        f"{name}: step {1e3 * result.step:.1f} ms, named {result.named:.1%}, by line {result.lined:.1%}, "
        f"sum of the buckets / step without the profiler {result.total:.3f}, with / without {result.cost:.3f} "
        f"(spread of steps {result.spread:.3f}), worst kernel off by {result.worst_kernel:.2%}"
        + (f", kernels without a line: {', '.join(result.unlinked)}" if result.unlinked else ""),
        flush=True,
    )


def main(names: list[str]) -> int:
    """Print the result of each model that is named, of all if none is; return how many did not run."""
    failed = 0
    for name in names or FAMILIES:
        print(end="", flush=True)
        failed += bool(subprocess.run([sys.executable, "-m", __spec__.name, "--alone", name], check=False).returncode)
    return failed


if __name__ == "__main__":
    if sys.argv[1:2] == ["--alone"]:
        _print(sys.argv[2])
    else:
        sys.exit(main(sys.argv[1:]))
