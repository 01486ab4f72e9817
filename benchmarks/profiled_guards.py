"""The guard time of a profile beside torch's own: the `TorchDynamo Cache Lookup` events of a profiler of its own.

    python -m benchmarks.profiled_guards

runs ten programs with ever more guards, each in turns with `depyf.profile` and with `torch.profiler` alone.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import mean

import torch

import depyf

STEPS, ROUNDS = 70, 12


def program(x: torch.Tensor, extra: list[int]) -> torch.Tensor:
    """Return what depends on every item of `extra`, so that each has a guard."""
    return x + sum(extra)


def depyfs(extra: list[int]) -> float:
    """Return the seconds of guards in a call, by depyf."""
    compiled = torch.compile(program, backend="eager")
    with tempfile.TemporaryDirectory() as folder, depyf.profile(Path(folder) / "dump") as profile:
        for _ in range(STEPS):
            compiled(torch.ones(4), extra)
            profile.step()
    guard_seconds: float = profile.result["kinds"]["guards"]
    return guard_seconds


def torchs(extra: list[int]) -> float:
    """Return the seconds of a cache lookup, by torch's profiler."""
    compiled = torch.compile(program, backend="eager")
    for _ in range(10):
        compiled(torch.ones(4), extra)
    with torch.profiler.profile() as profiler:
        for _ in range(30):
            compiled(torch.ones(4), extra)
    events = [event for event in profiler.events() if "Cache Lookup" in event.name]
    return mean(event.time_range.elapsed_us() for event in events) / 1e6


def main() -> None:
    """Print both for each program."""
    for guards in (100, 200, 300, 400, 500, 600, 700, 800, 900, 1000):
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(ROUNDS):
            for times, measure in ((ours, depyfs), (theirs, torchs)):
                torch._dynamo.reset()
                times.append(measure(list(range(guards))))
        mine, other = min(ours), min(theirs)
        print(f"{guards} guards: depyf {1e6 * mine:.1f} us, torch {1e6 * other:.1f} us, {mine / other:.3f}", flush=True)


if __name__ == "__main__":
    main()
