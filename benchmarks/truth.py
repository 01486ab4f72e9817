"""The numbers of a summary against torch's own: its list of compiles, its counters, and the code that Python ran.

    python -m benchmarks.truth              # 106 programs of `benchmarks/dynamo_programs`, 12 of a public repository
    python -m benchmarks.truth 10           # the first ten of each module
    python -m benchmarks.truth --public     # those of the public repository alone

Each runs with the eager backend. Calls are counted by `sys.setprofile`: those of the code that Dynamo made are hits,
those of functions that it gave up ran eager. Prints every number that differs, and exits with 1 where one does.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import sys
import tempfile
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import torch
from torch._dynamo import convert_frame, utils

import depyf
from benchmarks.dynamo_code import MODULES, load, run
from benchmarks.public_programs import PROGRAMS
from depyf.report.model import Recompile, Session
from depyf.torch.capture.active import HITS

Numbers = Mapping[str, int]


class Calls:
    """Counts how often each code that Dynamo made has run, by Python's own profiling hook."""

    def __init__(self) -> None:
        # Held, so that no other code gets the identity of one of them.
        self._made: dict[int, types.CodeType] = {}
        self.hits = 0

    def hear(self, code: types.CodeType, made: types.CodeType) -> None:
        """Note what Dynamo made."""
        self._made[id(made)] = made

    def count(self, frame: types.FrameType, event: str, argument: object) -> None:
        """Count a call of code that Dynamo made."""
        self.hits += event == "call" and id(frame.f_code) in self._made

    @contextlib.contextmanager
    def counting(self) -> Iterator[None]:
        """Count in a block."""
        handle = convert_frame.register_bytecode_hook(self.hear)
        sys.setprofile(self.count)
        try:
            yield
        finally:
            sys.setprofile(None)
            handle.remove()


def of_torch(calls: Calls) -> Numbers:
    """Return what torch itself counted since it was reset."""
    metrics = [each for each in utils.get_compilation_metrics() if each.co_name is not None]
    return {
        "compiles": len(metrics),
        "failures": sum(each.fail_type is not None for each in metrics),
        "recompiles": sum(not str(each.compile_id).endswith("/0") for each in metrics),
        "operations": sum(each.graph_op_count or 0 for each in metrics),
        "graphs": utils.counters["stats"]["unique_graphs"],
        "breaks": len(utils.counters["graph_break"]),
        "hits": calls.hits,
    }


def of_depyf(session: Session) -> Numbers:
    """Return what the summary tells; what this torch or this Python does not count is left out."""
    compiles = [each for _, each in session.compiles()]
    breaks = {(each.reason, each.where) for one in compiles for each in one.breaks}
    told = {
        "compiles": len(compiles),
        "failures": sum(each.failure is not None for each in compiles),
        "recompiles": sum(isinstance(each.trigger, Recompile) for each in compiles),
        "operations": sum(each.op_count or 0 for each in compiles),
        "graphs": sum(len({one.file for one in each.artefacts if one.stage == "Captured_Graph"}) for each in compiles),
        "breaks": len({reason for reason, _ in breaks}),
    }
    return told if HITS in session.unavailable else {**told, "hits": sum(each.hits or 0 for each in compiles)}


def compared(program: Callable[[], object]) -> tuple[Numbers, Numbers]:
    """Return torch's numbers and depyf's of one run of a program."""
    torch._dynamo.reset()
    utils.clear_compilation_metrics()
    utils.counters.clear()
    calls = Calls()
    with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(io.StringIO()):
        with depyf.prepare_debug(scratch) as session, calls.counting():
            program()
        return of_torch(calls), of_depyf(session)


def programs(most: int, *, public: bool) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the programs by name."""
    for module in MODULES if not public else ():
        for each in load(module)[:most]:
            yield each.name, lambda each=each: run(each, "eager")  # type: ignore[misc]
    for name, step in PROGRAMS.items():
        yield name, lambda step=step: step("eager")  # type: ignore[misc]


def main() -> int:
    """Compare the programs of all modules."""
    parser = argparse.ArgumentParser()
    parser.add_argument("most", nargs="?", type=int, default=1000)
    parser.add_argument("--public", action="store_true")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    checked, wrong = Counter[str](), Counter[str]()
    for name, program in programs(options.most, public=options.public):
        own, told = compared(program)
        for number in told:
            checked[number] += 1
            if told[number] != own[number]:
                wrong[number] += 1
                print(f"{name}: {number}: torch {own[number]}, depyf {told[number]}", flush=True)
    for number, count in checked.items():
        print(f"{number}: {count} programs, {wrong[number]} mismatches")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
