"""Part g: a cold compile, a steady step and the device's memory, with depyf and without, in pairs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import torch

import depyf
from benchmarks.gpu_check.checks import Setting, Told
from benchmarks.gpu_check.dumps import wait
from benchmarks.gpu_check.models import LARGE, MODELS, SMALL

MOST_PAIRS = 3
STEADY = 1.01
"""The bar of a steady step: the most that it may take with depyf, as a ratio."""


def run(setting: Setting, results: Told) -> None:
    """Run the part."""
    began = time.monotonic()
    _steady(setting, results)
    taken: list[tuple[tuple[float, int], tuple[float, int]]] = []
    while not taken or len(taken) < (1 if setting.is_small else MOST_PAIRS):
        begins = time.monotonic()
        taken.append((_cold(setting, None), _cold(setting, setting.folder / f"dump-{len(taken)}")))
        # Another pair begins only if it ends in time.
        if time.monotonic() - began + 1.3 * (time.monotonic() - begins) > setting.seconds:
            break
    ratios = [ours[0] / plain[0] for plain, ours in taken]
    results.add(
        "ratio of cold compiles", f"{statistics.median(ratios):.2f}", None, [f"{ratio:.2f}" for ratio in ratios]
    )
    if setting.is_small:
        results.skipped("memory of the device", "there is no GPU")
    else:
        extra = [ours[1] - plain[1] for plain, ours in taken]
        results.add("bytes of the device more than without", max(extra), max(extra) <= 0, extra)


def _step(setting: Setting) -> Callable[[], object]:
    torch.manual_seed(0)
    model, given = MODELS["gpt2"](SMALL if setting.is_small else LARGE)
    model = model.to(setting.device).eval()
    given = tuple(tensor.to(setting.device) for tensor in given)
    compiled = torch.compile(model, backend=setting.backend)
    return lambda: compiled(*given)


def _cold(setting: Setting, directory: Path | None) -> tuple[float, int]:
    """Return the seconds of the first call without any cache, and the most bytes of the device."""
    torch._dynamo.reset()
    with torch._inductor.config.patch(force_disable_caches=True):
        step = _step(setting)
        if setting.device == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        with depyf.prepare_debug(directory) if directory is not None else nullcontext():
            began = time.perf_counter()
            step()
            wait(setting)
            seconds = time.perf_counter() - began
    return seconds, torch.cuda.max_memory_allocated() if setting.device == "cuda" else 0


def _steady(setting: Setting, results: Told) -> None:
    """Time the same compiled step inside a capture and outside, in turns."""
    torch._dynamo.reset()
    step, ratios = _step(setting), []
    with depyf.prepare_debug(setting.folder / "steady"):
        step()
    for number in range(3 if setting.is_small else 15):
        plain = _seconds(setting, step)
        with depyf.prepare_debug(setting.folder / f"steady-{number}"):
            ours = _seconds(setting, step)
        ratios.append(ours / plain)
    ratio = statistics.median(ratios)
    met = None if setting.is_small else ratio <= STEADY
    results.add("ratio of steady steps", f"{ratio:.3f}", met, [f"{ratio:.3f}" for ratio in ratios])


def _seconds(setting: Setting, step: Callable[[], object]) -> float:
    """Return the median of some steps, after some that are not counted."""
    times = []
    for number in range(8 if setting.is_small else 60):
        wait(setting)
        began = time.perf_counter()
        step()
        wait(setting)
        if number > 4:
            times.append(time.perf_counter() - began)
    return statistics.median(times)
