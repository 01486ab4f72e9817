"""Part c: the profile against CUDA events, against torch's own table, and with one line made slower."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from contextlib import nullcontext

import torch
from torch import nn

import depyf
from benchmarks.gpu_check.checks import Setting, Told
from benchmarks.gpu_check.dumps import wait
from benchmarks.profile_injection import LARGE, first_lines, programs

SEED, COUNT = 42, 12
MOST_APART = 3.0
"""The bar in percent."""
FOR_A_DEVICE = 1024
"""The size of matrices whose products take a device longer than the guards take the host."""


def run(setting: Setting, results: Told) -> None:
    """Run the part."""
    step = training_step(setting)
    timed = []
    with depyf.profile(setting.folder / "training") as profile:
        for _ in range(60 if setting.is_small else 300):
            is_profiled = torch.autograd._profiler_enabled()
            taken = between_events(setting, step)
            profile.step()
            if not is_profiled:
                timed.append(taken())
    profiled = profile.result
    seconds = sum(profiled["kinds"].values())
    right = statistics.fmean(_usual(timed))
    apart = 100 * abs(seconds - right) / right
    # The host's clock of a loaded machine is no measure: without a GPU this is no bar.
    met = None if setting.is_small else apart <= MOST_APART
    results.add("sum of the buckets against events, in percent", f"{apart:.1f}", met, _rows(profiled["kinds"]))
    is_on_device = profiled["step"]["on_device"]
    results.add("the step is measured on the device", is_on_device, is_on_device or setting.is_small)
    results.add("share of the step that is named", f"{profiled['step']['named']:.3f}")
    _against_table(setting, step, profiled["kernels"], results)
    heat = [_heat(row) for row in profiled["lines"]]
    results.add("lines in the heat of a training step", len(heat), bool(heat), heat)
    _heavy_lines(setting, results)


def training_step(setting: Setting) -> Callable[[], None]:
    """Return a compiled training step with its optimizer."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    width = 64 if setting.is_small else 2048
    layers = [nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width), nn.Linear(width, width)]
    model = nn.Sequential(*layers).to(setting.device)
    compiled = torch.compile(model, backend=setting.backend)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    given = torch.randn(width, width, device=setting.device)

    def step() -> None:
        compiled(given).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def between_events(setting: Setting, step: Callable[[], None]) -> Callable[[], float]:
    """Run a step; return what gives its seconds between two CUDA events, or on the host's clock, once it is over."""
    if setting.device == "cuda":
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        step()
        last.record()
        return lambda: first.elapsed_time(last) / 1e3
    began = time.perf_counter()
    step()
    seconds = time.perf_counter() - began
    return lambda: seconds


def _usual(seconds: list[float]) -> list[float]:
    """Return the times inside the fences of Tukey's box plot, as a profile keeps them."""
    low, _, high = statistics.quantiles(seconds, n=4)
    fence = 1.5 * (high - low)
    return [value for value in seconds if low - fence <= value <= high + fence]


def _against_table(setting: Setting, step: Callable[[], None], kernels: list[dict[str, object]], results: Told) -> None:
    """Compare the names and the seconds of compiled kernels with the profiler's own table."""
    activity = torch.profiler.ProfilerActivity
    activities = [activity.CPU, *([activity.CUDA] if setting.device == "cuda" else [])]
    count = 10
    with torch.profiler.profile(activities=activities) as profiler:
        for _ in range(count):
            step()
        wait(setting)
    rows = [row for row in profiler.key_averages() if setting.is_small or row.device_type.name == "CUDA"]
    time_column = "self_cpu_time_total" if setting.is_small else "self_device_time_total"
    theirs = {row.key: getattr(row, time_column) / 1e6 / count for row in rows}
    ours: dict[str, float] = {}
    for row in kernels:
        ours[str(row["name"])] = ours.get(str(row["name"]), 0.0) + float(str(row["seconds"]))
    unknown = [name for name in ours if name not in theirs]
    results.none_of("kernels that are not in the profiler's table", unknown, len(ours))
    both = [name for name in ours if name in theirs]
    total, right = (sum(table[name] for name in both) for table in (ours, theirs))
    apart = 100 * abs(total - right) / right if right else 0.0
    details = [f"{name}: {1e6 * ours[name]:.1f} us, table {1e6 * theirs[name]:.1f} us" for name in both]
    met = None if setting.is_small else apart <= MOST_APART
    results.add("kernels against the profiler's table, in percent", f"{apart:.1f}", met, details)


def _heavy_lines(setting: Setting, results: Told) -> None:
    """Make a line of seeded programs slower, and look whether it comes first."""
    chosen = random.Random(SEED).sample(list(programs(LARGE if setting.is_small else FOR_A_DEVICE)), COUNT)
    chosen = chosen[: 1 if setting.is_small else COUNT]
    missed = []
    for program in chosen:
        with nullcontext() if setting.is_small else torch.device(setting.device):
            lines = first_lines(program, setting.backend, setting.folder)
        if program.line not in lines:
            missed.append(f"{program.name}: line {program.line} is not first, but {lines}")
    results.none_of("programs whose slow line is not first", missed, len(chosen))


def _rows(kinds: dict[str, float]) -> list[str]:
    return [f"{kind}: {1e6 * seconds:.1f} us" for kind, seconds in kinds.items() if seconds]


def _heat(row: dict[str, object]) -> str:
    return f"{float(str(row['share'])):.3f} {row['text']}"
