"""What the tutorial's programs print of a compiled function: what was compiled, and what a call of it costs."""

import tempfile
import time
from collections.abc import Callable, Sequence

import torch

import depyf


def measure(name: str, compiled: Callable[..., object], calls: Sequence[Sequence[object]], rounds: int = 200) -> None:
    """Make the calls once under depyf, then again and again, and print a line.

    The time is the least of five: others use the machine, too.
    """
    torch._dynamo.reset()
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        with depyf.prepare_debug(folder) as capture:
            for arguments in calls:
                compiled(*arguments)
        first = time.perf_counter() - began
    compiles = [each for _, each in capture.compiles()]
    breaks = sum(len(each.breaks) for each in compiles)
    guards = sum(each.guard_count or 0 for each in compiles)
    best = min(_seconds(compiled, calls, rounds) for _ in range(5))
    print(
        f"{name:<8}{len(compiles):>3} compiles{breaks:>3} breaks{guards:>5} guards"
        f"{first:>7.1f} s for the first calls{1e6 * best:>8.1f} us a call"
    )


def _seconds(compiled: Callable[..., object], calls: Sequence[Sequence[object]], rounds: int) -> float:
    """Return the seconds of one call."""
    began = time.perf_counter()
    for _ in range(rounds):
        for arguments in calls:
            compiled(*arguments)
    return (time.perf_counter() - began) / (rounds * len(calls))
