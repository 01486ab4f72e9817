"""What the tutorial's programs print of two versions of a function: what was compiled, and what a call costs."""

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence

import torch

import depyf
from depyf.model.counts import guard_count

Compiled = Callable[..., object]
Calls = Sequence[Sequence[object]]

ROUNDS = 60
"""Each version is timed in so many rounds, in turns with the other, and the least counts."""


def compare(versions: Mapping[str, Compiled], calls: Calls, times: int = 10) -> None:
    """Make the calls with each version, first under depyf, then again and again; print a line for each."""
    torch.set_num_threads(1)
    _warm_up()
    torch._dynamo.reset()
    first_call_times = {name: _first_calls(compiled, calls) for name, compiled in versions.items()}
    best = dict.fromkeys(versions, float("inf"))
    for _ in range(ROUNDS):
        for name, compiled in versions.items():
            best[name] = min(best[name], _seconds(compiled, calls, times))
    for name in versions:
        print(f"{name:<8}{first_call_times[name]}{1e6 * best[name]:>8.1f} us a call")


def _warm_up() -> None:
    """Compile something: the first compile of a process imports the compiler, which is nobody's overhead."""
    with torch.enable_grad():
        torch.compile(lambda x: x.sin().sum(), backend="aot_eager")(torch.ones(2, requires_grad=True)).backward()


def _first_calls(compiled: Compiled, calls: Calls) -> str:
    """Make the calls under depyf, and return what was counted."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        with depyf.prepare_debug(folder) as capture:
            for arguments in calls:
                compiled(*arguments)
        seconds = time.perf_counter() - began
    compiles = [compiled for _, compiled in capture.compiles()]
    breaks = sum(len(compiled.breaks) for compiled in compiles)
    guards = sum(guard_count(compiled) or 0 for compiled in compiles)
    counted = f"{len(compiles):>3} compiles{breaks:>3} breaks{guards:>5} guards"
    return f"{counted}{seconds:>7.1f} s for the first calls"


def _seconds(compiled: Compiled, calls: Calls, times: int) -> float:
    """Return the seconds of one call."""
    began = time.perf_counter()
    for _ in range(times):
        for arguments in calls:
            compiled(*arguments)
    return (time.perf_counter() - began) / (times * len(calls))
