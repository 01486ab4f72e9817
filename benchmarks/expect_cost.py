"""What `depyf.expect` costs: a steady call of compiled code in it, entering and leaving it, and a compile in it.

    python -m benchmarks.expect_cost

Steady calls are timed in pairs of batches, one with and one without in turn, by the time of the processor; a ratio of
1.00 is no cost. The same without any contract says how far the measurement itself is off.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import torch

import depyf

PAIRS = 401
CALLS = 400


def batch(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> float:
    """Return the seconds of a batch of calls."""
    begin = time.thread_time()
    for _ in range(CALLS):
        function(x)
    return time.thread_time() - begin


def compiled() -> Callable[[torch.Tensor], torch.Tensor]:
    """Return a small compiled function, of which nothing was compiled before."""
    torch._dynamo.reset()
    function: Callable[[torch.Tensor], torch.Tensor] = torch.compile(lambda x: (x.sin() * 2).relu(), backend="eager")
    return function


def steady(function: Callable[[torch.Tensor], torch.Tensor], contract: AbstractContextManager[object]) -> float:
    """Return the ratio of a steady call in a contract to one without: the median of pairs, taken in turn."""
    x, pairs = torch.ones(4), []
    batch(function, x)
    for number in range(PAIRS):
        times: dict[bool, float] = {}
        for watched in (number % 2 == 0, number % 2 == 1):
            with contract if watched else contextlib.nullcontext():
                times[watched] = batch(function, x)
        pairs.append(times[True] / times[False])
    return statistics.median(pairs)


def entering() -> float:
    """Return the seconds of entering and leaving a contract that sees nothing."""
    contract = depyf.expect(graphs=0)
    begin = time.perf_counter()
    for _ in range(CALLS):
        with contract:
            pass
    return (time.perf_counter() - begin) / CALLS


def cold() -> tuple[float, float]:
    """Return the seconds of a compile without a contract, and in one: the medians of several in turn."""
    times: dict[bool, list[float]] = {False: [], True: []}
    for number in range(24):
        function, watched = compiled(), number % 2 == 0
        begin = time.perf_counter()
        if watched:
            with depyf.expect(graphs=1, breaks=0):
                function(torch.ones(4))
        else:
            function(torch.ones(4))
        times[watched].append(time.perf_counter() - begin)
    return statistics.median(times[False][2:]), statistics.median(times[True][2:])


def main() -> None:
    """Measure, and print what came of it."""
    compiled()(torch.ones(4))
    control = steady(compiled(), contextlib.nullcontext())
    before = steady(compiled(), depyf.expect())
    function, contract = compiled(), depyf.expect()
    with contract:
        function(torch.ones(4))
    inside = steady(function, contract)
    without, watched = cold()
    print(f"torch {torch.__version__}: a steady call in it: {before:.3f}; of code compiled in it: {inside:.3f}")
    print(f"no contract in both, measured alike: {control:.3f}")
    print(f"entering and leaving: {1e6 * entering():.0f} µs")
    print(f"a compile of three operations: {1e3 * without:.1f} ms, in it {1e3 * watched:.1f} ms")


if __name__ == "__main__":
    main()
