"""What it takes to decompile each code object that Dynamo makes of our programs, beside what Dynamo took to make it.

Dynamo's time is that of a whole compile of a frame, guards included; no backend's compiler counts, as `eager` has
none. Ours is taken in two ways: decompiling alone, and decompiling with the proof. All are seconds of this thread.
Every program is compiled anew in several rounds, and each code object is decompiled once a round, as it comes and in
one of the two ways; what counts is the least that Dynamo took for it in any round, and the least of each way. As under
`prepare_debug`, Dynamo writes no profiler's marks.
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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch._dynamo import convert_frame
from torch._dynamo.callback import on_compile_end, on_compile_start

from benchmarks.bar import Bar, none_of, report
from benchmarks.dynamo_code import MODULES, load, run
from depyf.decompiler import api
from depyf.torch.adapters.profiler_marks import without_marks

Way = Callable[[types.CodeType], object]


def alone(code: types.CodeType) -> object:
    """Decompile code without a proof."""
    return api.source_of(code, simplify=True)


def proven(code: types.CodeType) -> object:
    """Decompile code and prove it."""
    return api.decompile_code(code, simplify=True)


WAYS: dict[str, Way] = {"alone": alone, "with proof": proven}
"""What is measured, by its name in the table."""
ROUNDS = 3
"""How often each way is measured."""
SHARE = 0.10
"""Decompiling may take this part of Dynamo's time."""
STEPS = (0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2)
"""Shares between which code objects are counted."""
EXPONENT = 1.2
"""Time may grow with this power of the instructions, fixed costs aside."""


@dataclass(frozen=True)
class Made:
    """A code object of one round: its instructions, and seconds that Dynamo and one of the ways took."""

    name: str
    instructions: int
    dynamo: float
    ours: float


@dataclass(frozen=True)
class Taken:
    """A code object: its instructions, and the least seconds that Dynamo took, and each way by its name."""

    name: str
    instructions: int
    dynamo: float
    ours: dict[str, float]

    def share(self, way: str) -> float:
        """Return which part of Dynamo's time a way takes."""
        return self.ours[way] / self.dynamo


@dataclass
class Clock:
    """Hears when a compile begins and when its code is there, and decompiles that code in one way."""

    way: Way
    began: float = 0.0
    listening: float = 0.0
    heard: list[tuple[str, int, float]] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)

    def start(self, *_: object) -> None:
        """Note that a compile begins."""
        self.began, self.listening = time.thread_time(), 0.0

    def code(self, code: types.CodeType, new_code: types.CodeType) -> None:
        """Decompile code that Dynamo has just made."""
        began = time.thread_time()
        self.way(without_marks(new_code))
        ours = time.thread_time() - began
        self.heard.append((code.co_name, sum(1 for _ in dis.get_instructions(new_code)), ours))
        self.listening += time.thread_time() - began

    def end(self, *_: object) -> None:
        """Note that a compile has ended; one that made no code does not count."""
        whole = time.thread_time() - self.began
        if len(self.heard) == 1:
            ((name, count, ours),) = self.heard
            self.made.append(Made(name, count, whole - self.listening, ours))
        self.heard.clear()


def measure(modules: Sequence[str], way: Way) -> list[Made]:
    """Compile every program of some modules, and decompile what is made in one way."""
    clock = Clock(way)

    def prepare() -> None:
        on_compile_start(clock.start)
        on_compile_end(clock.end)

    handle = convert_frame.register_bytecode_hook(clock.code)
    try:
        run(load(modules[0])[0], "eager", prepare)
        clock.made.clear()
        for module in modules:
            for program in load(module):
                run(program, "eager", prepare)
    finally:
        handle.remove()
    return clock.made


def least(modules: Sequence[str], rounds: int) -> list[Taken]:
    """Measure both ways in turn, and return the least that each code object took."""
    measured_ways = {name: [measure(modules, way)] for name, way in WAYS.items()}
    for _ in range(rounds - 1):
        for name, way in WAYS.items():
            measured_ways[name].append(measure(modules, way))
    taken = []
    for ways in zip(*(zip(*measured, strict=True) for measured in measured_ways.values()), strict=True):
        every = [code_object for way in ways for code_object in way]
        ours = {name: min(code_object.ours for code_object in way) for name, way in zip(WAYS, ways, strict=True)}
        ((name, count),) = {(code_object.name, code_object.instructions) for code_object in every}
        taken.append(Taken(name, count, min(code_object.dynamo for code_object in every), ours))
    return taken


def exponent(taken: Sequence[Taken], way: str) -> float:
    """Return the power of their instructions with which the time of code objects grows, by least squares.

    The median time of the smallest tenth, less what its instructions take, is a cost that every code object has.
    """
    ordered = sorted(taken, key=lambda code_object: code_object.instructions)
    tenth = max(len(ordered) // 10, 1)
    small, large = ordered[:tenth], ordered[-tenth:]
    sizes = [statistics.median(code_object.instructions for code_object in part) for part in (small, large)]
    times = [statistics.median(code_object.ours[way] for code_object in part) for part in (small, large)]
    per_instruction = (times[1] - times[0]) / max(sizes[1] - sizes[0], 1)
    fixed = max(times[0] - per_instruction * sizes[0], 0.0)
    rest = [
        (code_object.instructions, code_object.ours[way] - fixed)
        for code_object in ordered
        if code_object.ours[way] > fixed
    ]
    logs = [math.log(count) for count, _ in rest], [math.log(seconds) for _, seconds in rest]
    return statistics.linear_regression(*logs).slope


def print_shares(taken: Sequence[Taken]) -> None:
    """Print how many code objects take which share of Dynamo's time, one column a way."""
    print(f"{'part of the time that Dynamo took':36}" + "".join(f"{way:>12}" for way in WAYS))
    for low, high in zip(STEPS, [*STEPS[1:], math.inf]):
        words = f"  {low:.0%} or more" + (f", less than {high:.0%}" if high < math.inf else "")
        counts = [sum(low <= code_object.share(way) < high for code_object in taken) for way in WAYS]
        print(f"{words:36}" + "".join(f"{count:12}" for count in counts))
    middle = [statistics.median(code_object.share(way) for code_object in taken) for way in WAYS]
    print(f"{'  the median':36}" + "".join(f"{share:12.1%}" for share in middle))
    count = sum(code_object.instructions for code_object in taken)
    per_instruction = [sum(code_object.ours[way] for code_object in taken) / count for way in WAYS]
    print(f"{'  us for each instruction':36}" + "".join(f"{1e6 * seconds:12.1f}" for seconds in per_instruction))


def bars(taken: Sequence[Taken], way: str) -> list[Bar]:
    """Return the bars of one way."""
    dynamo, ours = sum(code_object.dynamo for code_object in taken), sum(code_object.ours[way] for code_object in taken)
    worst = sorted(taken, key=lambda code_object: code_object.share(way), reverse=True)
    over = [
        f"{code_object.name}: {code_object.share(way):.1%} of {1000 * code_object.dynamo:.1f} ms, "
        f"{code_object.instructions} instructions"
        for code_object in worst
        if code_object.share(way) >= SHARE
    ]
    power = exponent(taken, way)
    together = f"{ours:.2f} s to Dynamo's {dynamo:.2f} s"
    most = f"{SHARE:.0%} or more; the most is {worst[0].share(way):.1%}, {worst[0].name}"
    return [
        Bar(f"{way}: all together", f"{100 * ours / dynamo:.1f} %", ours < SHARE * dynamo, note=together),
        none_of(f"{way}: code objects that take a large part of Dynamo's time", over, f"{len(taken)}", most),
        Bar(f"{way}: time grows with this power of the instructions", f"{power:.2f}", power <= EXPONENT),
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=MODULES, help="only the programs of these")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each way is measured")
    options = parser.parse_args()
    logging.getLogger("torch").setLevel(logging.ERROR)
    taken = least(options.modules, options.rounds)
    print(f"torch {torch.__version__}, Python {sys.version.split()[0]}, {len(taken)} code objects")
    print_shares(taken)
    report([bar for way in WAYS for bar in bars(taken, way)])


if __name__ == "__main__":
    main()
