"""The first finding of programs with one seeded problem each, and the findings of programs without any.

    python -m benchmarks.first_finding               # all
    python -m benchmarks.first_finding NAME...       # some, with all that is found

Bars: of the former the first finding names the right kind and the right line in all but one of forty; of the latter
none has a finding above "low". Exits with 1 where a bar is missed.
"""

from __future__ import annotations

import importlib
import linecache
import logging
import sys
import tempfile
import warnings
from collections.abc import Callable

import torch

import depyf
from benchmarks.bar import Bar, report
from corpus.problems.seeded import CLEAN, HERE, PROBLEMS
from depyf.findings import Finding, findings

for _name in ("training", "loops", "without"):
    importlib.import_module(f"corpus.problems.{_name}")


def found(program: Callable[[], object]) -> tuple[Finding, ...]:
    """Return the findings of a program, run on a fresh Dynamo."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as scratch, depyf.prepare_debug(scratch) as session:
        program()
    return findings(session)


def wrong(name: str) -> str:
    """Return what is wrong with the first finding of a seeded program, empty where it is right."""
    kinds, program = PROBLEMS[name]
    findings_of_program = found(program)
    if not findings_of_program:
        return f"{name}: no finding"
    first = findings_of_program[0]
    where = first.where
    marked = where is not None and HERE in linecache.getline(where.file, where.line)
    if first.kind in kinds and marked and first.severity != "low" or kinds & {"train-eval"} and first.kind in kinds:
        return ""
    row = linecache.getline(where.file, where.line).strip() if where is not None else "no line"
    return f"{name}: {first.kind}, {first.severity}, {row}: {first.line}"


def alarms(name: str) -> list[str]:
    """Return the findings above "low" of a program without a problem."""
    return [f"{name}: {finding.kind}: {finding.line}" for finding in found(CLEAN[name]) if finding.severity != "low"]


def main(names: list[str]) -> None:
    """Print the bars."""
    warnings.simplefilter("ignore")
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    for name in names:
        for finding in found(PROBLEMS[name][1] if name in PROBLEMS else CLEAN[name]):
            print(f"{name}: {finding.kind}, {finding.severity}: {finding.line}")
    if names:
        return
    problems = [problem for problem in map(wrong, PROBLEMS) if problem]
    false = [alarm for name in CLEAN for alarm in alarms(name)]
    right, least = len(PROBLEMS) - len(problems), len(PROBLEMS) * 39 // 40
    quiet = len(CLEAN) - len({alarm.partition(":")[0] for alarm in false})
    report(
        [
            Bar("seeded: first finding right", f"{right} of {len(PROBLEMS)}", right >= least, problems),
            Bar("clean: no finding above low", f"{quiet} of {len(CLEAN)}", not false, false),
        ]
    )


if __name__ == "__main__":
    main(sys.argv[1:])
