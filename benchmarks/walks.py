"""Work that the decompiler does for each code object: reads, normalisations, lifts, proofs, and passes without a match.

    python -m benchmarks.walks [MODULE ...]

A pass announces each rewrite (`decompiler/steps.py`). A pass that announces none had no match: its time is what a
condition on the operations of the code could save. The script prints, for each pass, its runs, the share of them
without a match, and the share of the processor time with and without a match.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import types
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from benchmarks.throughput import MODULES
from depyf.bytecode import listings, reader
from depyf.decompiler import module
from depyf.decompiler.passes.registry import REGISTERED
from depyf.decompiler.pipeline import work as works
from depyf.decompiler.steps import recording

Given = ParamSpec("Given")
Result = TypeVar("Result")
Work = TypeVar("Work")


class Walks:
    """Counts what happens to code objects; it is a listener of rewrites."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.runs: Counter[str] = Counter()
        self.idle: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.idle_seconds: defaultdict[str, float] = defaultdict(float)
        self.steps = 0

    def begin(self, work: object) -> None:
        """Count a code object."""
        self.counts["code objects"] += 1

    def attempt(self, work: object, why: str) -> None:
        """Count another attempt on the same code object."""
        self.counts["further attempts"] += 1

    def step(self, message: str) -> None:
        """Count a rewrite."""
        self.steps += 1

    def after(self, name: str, work: object) -> None:
        """Do nothing: the pass itself is measured."""

    def counted(self, name: str, call: Callable[Given, Result]) -> Callable[Given, Result]:
        """Return a function that counts its calls and their time."""

        def run(*arguments: Given.args, **keywords: Given.kwargs) -> Result:
            began = time.process_time()
            try:
                return call(*arguments, **keywords)
            finally:
                self.counts[name] += 1
                self.seconds[name] += time.process_time() - began

        return run

    def measured(self, name: str, call: Callable[[Work], None]) -> Callable[[Work], None]:
        """Return a pass that records whether it announced a rewrite."""

        def run(work: Work) -> None:
            before, began = self.steps, time.process_time()
            try:
                call(work)
            finally:
                taken = time.process_time() - began
                self.runs[name] += 1
                self.seconds[name] += taken
                if self.steps == before:
                    self.idle[name] += 1
                    self.idle_seconds[name] += taken

        return run


def codes(names: list[str]) -> list[types.CodeType]:
    """Return the code objects of library modules."""
    compiled = []
    for name in names:
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.origin is not None
        with open(spec.origin, "rb") as file:
            compiled.append(compile(file.read(), spec.origin, "exec", dont_inherit=True))
    return compiled


def count(names: list[str]) -> tuple[Walks, float]:
    """Decompile modules; return the counts, and the processor time in seconds."""
    programs = [reader.read(code) for code in codes(names)]
    module.decompile_module(programs[0])  # Imports what is imported late.
    walks = Walks()
    for entry in works._registered(True)[0]:
        object.__setattr__(entry, "run", walks.measured(entry.name, entry.run))
    listings.normalise = walks.counted("normalised", listings.normalise)  # type: ignore[attr-defined]
    for name in ("decompile", "compiled", "verify", "write", "module_body"):
        setattr(module, name, walks.counted(name, getattr(module, name)))
    began = time.process_time()
    with recording(walks):
        for code in programs:
            module.decompile_module(code)
    return walks, time.process_time() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", default=MODULES.split())
    warnings.simplefilter("ignore")
    walks, total = count(parser.parse_args().modules)
    code_objects = walks.counts["code objects"]
    print(f"{code_objects} code objects, {total:.2f} s")
    for name, number in sorted(walks.counts.items()):
        share = f"{100 * walks.seconds[name] / total:5.1f} % of the time" if name in walks.seconds else ""
        print(f"{name:28} {number:7} {number / code_objects:6.2f} a code object {share}")
    print(f"{'pass':28} {'runs':>7} {'idle %':>7} {'time %':>7} {'idle time %':>11}")
    for name, taken in sorted(walks.seconds.items(), key=lambda item: -item[1]):
        if name in REGISTERED:
            runs, idle = walks.runs[name], walks.idle[name]
            spent = 100 * walks.idle_seconds[name] / total
            print(f"{name:28} {runs:7} {100 * idle / runs:7.1f} {100 * taken / total:7.2f} {spent:11.2f}")
    idle_runs, runs = sum(walks.idle.values()), sum(walks.runs.values())
    spent = 100 * sum(walks.idle_seconds.values()) / total
    print(f"passes without a match: {100 * idle_runs / runs:.1f} % of {runs} runs, {spent:.1f} % of the time")


if __name__ == "__main__":
    main()
