"""What it takes to decompile and prove each code object that Dynamo makes of our programs, beside what Dynamo took.

Dynamo's time is that of a whole compile of a frame, guards included; no backend's compiler counts, as `eager` has
none. Ours is `decompile_code` with its proof. Both are seconds of this thread, each code object is taken once and as
it comes, and only the imports of both are done before. As under `prepare_debug`, Dynamo writes no profiler's marks.
"""

from __future__ import annotations

import argparse
import dis
import logging
import math
import statistics
import sys
import time
import types
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch._dynamo import convert_frame
from torch._dynamo.callback import on_compile_end, on_compile_start

from benchmarks.bar import Bar, none_of, report
from benchmarks.dynamo_code import MODULES, load, run
from depyf import api
from depyf.torch.adapters import seams

SHARE = 0.10
"""Decompiling may take this part of Dynamo's time."""
STEPS = (0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2)
"""Shares between which code objects are counted."""
EXPONENT = 1.2
"""Time may grow with this power of the instructions, fixed costs aside."""


@dataclass(frozen=True)
class Taken:
    """A code object: its instructions, and seconds that Dynamo and the decompiler took."""

    name: str
    instructions: int
    dynamo: float
    ours: float


@dataclass
class Clock:
    """Hears when a compile begins and when its code is there, and decompiles that code."""

    began: float = 0.0
    made: list[tuple[str, int, float]] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)

    def start(self, *_: object) -> None:
        """Note that a compile begins."""
        self.began = time.thread_time()

    def code(self, code: types.CodeType, new_code: types.CodeType) -> None:
        """Decompile code that Dynamo has just made."""
        began = time.thread_time()
        api.decompile_code(new_code, simplify=True)
        ours = time.thread_time() - began
        self.made.append((code.co_name, sum(1 for _ in dis.get_instructions(new_code)), ours))

    def end(self, *_: object) -> None:
        """Note that a compile has ended; one that made no code does not count."""
        whole = time.thread_time() - self.began
        if len(self.made) == 1:
            ((name, count, ours),) = self.made
            self.taken.append(Taken(name, count, whole - ours, ours))
        self.made.clear()


def measure(modules: Sequence[str]) -> list[Taken]:
    """Compile every program of some modules."""
    clock = Clock()

    def prepare() -> None:
        on_compile_start(clock.start)
        on_compile_end(clock.end)

    handle = convert_frame.register_bytecode_hook(clock.code)
    try:
        with seams.without_profiler_marks():
            run(load(modules[0])[0], "eager", prepare)
            clock.taken.clear()
            for module in modules:
                for program in load(module):
                    run(program, "eager", prepare)
    finally:
        handle.remove()
    return clock.taken


def exponent(taken: Sequence[Taken]) -> float:
    """Return the power of their instructions with which the time of code objects grows, by least squares.

    The median time of the smallest tenth, less what its instructions take, is a cost that every code object has.
    """
    ordered = sorted(taken, key=lambda one: one.instructions)
    tenth = max(len(ordered) // 10, 1)
    small, large = ordered[:tenth], ordered[-tenth:]
    sizes = [statistics.median(one.instructions for one in part) for part in (small, large)]
    times = [statistics.median(one.ours for one in part) for part in (small, large)]
    each = (times[1] - times[0]) / max(sizes[1] - sizes[0], 1)
    fixed = max(times[0] - each * sizes[0], 0.0)
    points = [(math.log(one.instructions), math.log(one.ours - fixed)) for one in ordered if one.ours > fixed]
    return statistics.linear_regression(*zip(*points)).slope


def print_shares(shares: Sequence[float]) -> None:
    """Print how many code objects take which share of Dynamo's time."""
    for low, high in zip(STEPS, [*STEPS[1:], math.inf]):
        count = sum(low <= share < high for share in shares)
        print(f"  {count:4} take {low:.0%} or more" + (f", less than {high:.0%}" if high < math.inf else ""))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=MODULES, help="only the programs of these")
    options = parser.parse_args()
    logging.getLogger("torch").setLevel(logging.ERROR)
    taken = measure(options.modules)
    dynamo, ours = sum(one.dynamo for one in taken), sum(one.ours for one in taken)
    shares = sorted((one.ours / one.dynamo, one) for one in taken)
    over = [f"{one.name}: {share:.1%} of {1000 * one.dynamo:.1f} ms, {one.instructions} instructions"
            for share, one in reversed(shares) if share >= SHARE]  # fmt: skip
    print(f"torch {torch.__version__}, Python {sys.version.split()[0]}, {len(taken)} code objects")
    print(f"per instruction {1e6 * ours / sum(one.instructions for one in taken):.0f} us; "
          f"median share {shares[len(shares) // 2][0]:.1%}")  # fmt: skip
    print_shares([share for share, _ in shares])
    power = exponent(taken)
    report([
        Bar("all together", f"{ours:.2f} s to Dynamo's {dynamo:.2f} s, {ours / dynamo:.1%}", ours < SHARE * dynamo),
        none_of(f"code objects that take {SHARE:.0%} of Dynamo's time or more", over, f"{len(taken)}"),
        Bar("time grows with this power of the instructions", f"{power:.2f}", power <= EXPONENT),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
