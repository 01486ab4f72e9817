"""What `depyf.expect` costs: a steady call of compiled code in it, entering and leaving it, and a compile in it.

    python -m benchmarks.expect_cost

Steady calls are timed in pairs, one batch with and one without in turn, each the best of several; a ratio of 1.00 is
no cost.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch

import depyf

PAIRS = 41
CALLS = 400


def batch(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> float:
    """Return the seconds of a batch of calls."""
    begin = time.perf_counter()
    for _ in range(CALLS):
        function(x)
    return time.perf_counter() - begin


def compiled() -> Callable[[torch.Tensor], torch.Tensor]:
    """Return a small compiled function, of which nothing was compiled before."""
    torch._dynamo.reset()
    made: Callable[[torch.Tensor], torch.Tensor] = torch.compile(lambda x: (x.sin() * 2).relu(), backend="eager")
    return made


def steady() -> tuple[float, float]:
    """Return the ratio of a steady call with to one without, of code that was compiled before and in the contract."""
    ratios = []
    x = torch.ones(4)
    for is_inside in (False, True):
        function = compiled()
        contract = depyf.expect()
        if is_inside:
            with contract:
                function(x)
        function(x)
        batch(function, x)
        pairs = []
        for number in range(PAIRS):
            times: dict[bool, float] = {}
            for watched in (number % 2 == 0, number % 2 == 1):
                if watched:
                    with contract:
                        times[watched] = batch(function, x)
                else:
                    times[watched] = batch(function, x)
            pairs.append(times[True] / times[False])
        ratios.append(statistics.median(pairs))
    return ratios[0], ratios[1]


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
    before, inside = steady()
    without, watched = cold()
    print(f"torch {torch.__version__}: a steady call in it: {before:.3f}; of code compiled in it: {inside:.3f}")
    print(f"entering and leaving: {1e6 * entering():.0f} µs")
    print(f"a compile of three operations: {1e3 * without:.1f} ms, in it {1e3 * watched:.1f} ms")


if __name__ == "__main__":
    main()
