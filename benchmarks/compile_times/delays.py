"""Delays of a known line and stage: is the cell with most seconds that line and stage?

A delay is a function that sleeps while Dynamo calls it, a loop that is long to trace, a decomposition, a lowering, or a
C++ compiler that sleeps. Each program has lines of the same form around the slow one.

The clock counts the time of the processor and the sleeps that were asked for, and nothing is waited for: other work on
the machine does not change it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import random
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import torch

from benchmarks.bar import Bar
from benchmarks.compile_times.attribution import timed
from depyf.model.compile_times import CompileTimes, function_times
from depyf.trace.start_clock import processor_time

SECONDS = 0.6
LEAST_SHARE = 0.95
"""57 of 60."""
COMPILER_SECONDS = 4 * SECONDS + 6
LINES = ("x = torch.sin(x) @ w", "x = torch.cos(x) @ w", "x = torch.exp(-x * x) @ w", "x = torch.tanh(x) @ w")
HEAD = """\
import time
import torch


@torch.compiler.assume_constant_result
def constant():
    time.sleep({seconds})
    return 2.0


class Inner(torch.nn.Module):
    def forward(self, x, w):
{inner}
        return x


inner = Inner()


def outer(x, w):
{outer}
    return inner(x, w)


def program(x, w):
    return outer(x, w).sum()
"""
SLOW = {
    "constant": ("x = x * constant()", ("tracing",)),
    "loop": ("for _ in range(700): x = x + 1", ("tracing",)),
    "decomposition": ("x = torch.special.i0e(x) @ w", ("joint graph", "AOTAutograd")),
    "lowering": ("x = torch.sinh(x) @ w", ("lowering",)),
    "compiler": ("x = torch.sinh(x) @ w", ("C++ compiler", "waiting for compilers")),
}
"""For each way, the slow line and the stages that count as right. A metadata pass decomposes, too."""
WAYS = (*["constant"] * 7, *["loop"] * 7, *["decomposition"] * 6, *["lowering"] * 6, *["compiler"] * 4)


class _Clock:
    """The time of the processor, with all sleeps of this process and of the slow compiler."""

    def __init__(self) -> None:
        self._slept = 0
        self.of_compiler: Path | None = None
        """The file that gets a byte for each sleep of the compiler."""

    def sleep(self, seconds: float) -> None:
        """Take the place of `time.sleep`."""
        self._slept += int(1e9 * seconds)

    def __call__(self) -> int:
        """Return nanoseconds."""
        file = self.of_compiler
        sleeps = file.stat().st_size if file is not None and file.exists() else 0
        return processor_time() + self._slept + int(1e9 * COMPILER_SECONDS) * sleeps


CLOCK = _Clock()


@dataclass(frozen=True)
class Delay:
    """A program with one slow line."""

    name: str
    way: str
    text: str
    line: int


def delays(count: int) -> Iterator[Delay]:
    """Yield programs, seeded: where the slow line stands, and the lines around it."""
    for number in range(count):
        choice = random.Random(number)
        way = WAYS[number % len(WAYS)]
        bodies = {part: choice.sample(LINES, 3) for part in ("inner", "outer")}
        bodies[choice.choice(("inner", "outer"))].insert(choice.randrange(4), SLOW[way][0])
        text = HEAD.format(
            seconds=SECONDS,
            inner="\n".join(f"        {line}" for line in bodies["inner"]),
            outer="\n".join(f"    {line}" for line in bodies["outer"]),
        )
        line = next(at for at, row in enumerate(text.splitlines(), 1) if row.strip() == SLOW[way][0])
        yield Delay(f"delay_{number}_{way}", way, text, line)


def measure(count: int) -> list[Bar]:
    """Compile all programs; return the bar."""
    right, wrong = 0, []
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(scratch, "inductor")
        for delay in delays(count):
            lines, stage, seconds = _largest(_times(delay, Path(scratch)))
            is_right = delay.line in lines and stage in SLOW[delay.way][1]
            right += is_right
            row = f"{delay.name}: line {delay.line}; first is {lines} {stage}, {seconds:.2f} s"
            print("right" if is_right else "WRONG", row, flush=True)
            wrong += [] if is_right else [row]
    what = "injected delays whose line and stage are the first cell"
    return [Bar(what, f"{right} of {count}", right >= LEAST_SHARE * count, wrong)]


def _largest(times: CompileTimes) -> tuple[tuple[int, ...], str, float]:
    cells = (
        (lines, stage, seconds)
        for function in function_times(times)
        for lines, stages in function.lines.items()
        for stage, seconds in stages.items()
    )
    return max(cells, key=lambda cell: cell[2])


def _times(delay: Delay, scratch: Path) -> CompileTimes:
    with mock.patch.object(time, "sleep", CLOCK.sleep):
        return _slept_through(delay, scratch)


def _slept_through(delay: Delay, scratch: Path) -> CompileTimes:
    function = _loaded(delay, scratch).program
    x, w = torch.randn(8, 8), torch.randn(8, 8) / 8
    run: Callable[[], object] = {
        "constant": lambda: torch.compile(function, backend="eager")(x, w),
        "loop": lambda: torch.compile(function, backend="eager")(x, w),
        "decomposition": lambda: torch.compile(function, backend=_decomposing)(x, w),
    }.get(delay.way, lambda: torch.compile(function, backend="inductor")(x, w))
    if delay.way in ("constant", "loop", "decomposition"):
        return timed(scratch / "dump", run, CLOCK)
    # For a slow lowering, the kernels are compiled before, so that nothing but the delay is slow.
    settings: Any = torch._inductor.config
    with settings.patch(fx_graph_cache=False):
        if delay.way == "compiler":
            with _slow_compiler(scratch / f"{delay.name}_compiler"):
                return timed(scratch / "dump", run, CLOCK)
        run()
        with _slow_lowering():
            return timed(scratch / "dump", run, CLOCK)


def _decomposing(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Any:  # noqa: ANN401 - a backend's result
    from torch._dynamo.backends.common import aot_autograd

    def slow(x: torch.Tensor) -> torch.Tensor:
        time.sleep(SECONDS / 2)
        return x.abs().exp()

    decompositions = {torch.ops.aten.special_i0e.default: slow}
    return aot_autograd(fw_compiler=lambda graph, _: graph, decompositions=decompositions)(graph, inputs)


@contextlib.contextmanager
def _slow_lowering() -> Iterator[None]:
    from torch._inductor.lowering import lowerings

    target = torch.ops.aten.sinh.default
    before: Callable[..., Any] = lowerings[target]

    def slow(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - Inductor's values
        time.sleep(SECONDS)
        return before(*args, **kwargs)

    lowerings[target] = slow
    try:
        yield
    finally:
        lowerings[target] = before


@contextlib.contextmanager
def _slow_compiler(compiler: Path) -> Iterator[None]:
    """Put a compiler in front of the real one that sleeps for kernels with `sinh`. Its path is part of their keys."""
    from torch._inductor import codecache, config, cpu_vec_isa

    compiler_path = config.cpp.cxx[-1] or "g++"
    sleeps = CLOCK.of_compiler = compiler.with_suffix(".sleeps")
    slow = f'case "$each" in *.cpp) grep -q sinh "$each" && printf x >>{sleeps};; esac'
    compiler.write_text(f'#!/bin/sh\nfor each in "$@"; do {slow}; done\nexec {compiler_path} "$@"\n')
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    # What each new compiler is asked once, its instruction sets and a header, is no part of the delay.
    with config.patch({"cpp.cxx": (str(compiler),), "cpp_cache_precompile_headers": False}):
        codecache.CppCodeCache.cache_clear()
        cpu_vec_isa.pick_vec_isa()
        yield
    CLOCK.of_compiler = None


def _loaded(delay: Delay, folder: Path) -> ModuleType:
    path = folder / f"{delay.name}.py"
    path.write_text(delay.text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(delay.name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[delay.name] = module
    spec.loader.exec_module(module)
    return module
