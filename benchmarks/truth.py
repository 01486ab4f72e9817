"""The numbers of a summary against torch's own: its list of compiles and its counters.

    python -m benchmarks.truth            # the programs of `benchmarks/dynamo_programs`, with the eager backend
    python -m benchmarks.truth 10         # the first ten of each module

Prints every number that differs, and exits with 1 where one does.
"""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping

import torch
from torch._dynamo import utils

import depyf
from benchmarks.dynamo_code import MODULES, load, run
from benchmarks.dynamo_programs.program import Program
from depyf.report.model import Recompile, Session

Numbers = Mapping[str, int]


def of_torch() -> Numbers:
    """Return what torch itself counted since it was reset."""
    metrics = [each for each in utils.get_compilation_metrics() if each.co_name is not None]
    return {
        "compiles": len(metrics),
        "failures": sum(each.fail_type is not None for each in metrics),
        "recompiles": sum(not str(each.compile_id).endswith("/0") for each in metrics),
        "operations": sum(each.graph_op_count or 0 for each in metrics),
        "graphs": utils.counters["stats"]["unique_graphs"],
    }


def of_depyf(session: Session) -> Numbers:
    """Return what the summary tells."""
    compiles = [each for _, each in session.compiles()]
    return {
        "compiles": len(compiles),
        "failures": sum(each.failure is not None for each in compiles),
        "recompiles": sum(isinstance(each.trigger, Recompile) for each in compiles),
        "operations": sum(each.op_count or 0 for each in compiles),
        "graphs": sum(len({one.file for one in each.artefacts if one.stage == "Captured_Graph"}) for each in compiles),
    }


def compared(program: Program) -> tuple[Numbers, Numbers]:
    """Return torch's numbers and depyf's of one run of a program."""
    torch._dynamo.reset()
    utils.clear_compilation_metrics()
    utils.counters.clear()
    with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(io.StringIO()):
        with depyf.prepare_debug(scratch) as session:
            run(program, "eager")
        return of_torch(), of_depyf(session)


def main(most: int) -> int:
    """Compare the programs of all modules."""
    logging.disable(logging.WARNING)
    programs = [program for module in MODULES for program in load(module)[:most]]
    checked, wrong = Counter[str](), Counter[str]()
    for program in programs:
        own, told = compared(program)
        for name, number in own.items():
            checked[name] += 1
            if told[name] != number:
                wrong[name] += 1
                print(f"{program.name}: {name}: torch {number}, depyf {told[name]}")
    for name, number in checked.items():
        print(f"{name}: {number} programs, {wrong[name]} mismatches")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
