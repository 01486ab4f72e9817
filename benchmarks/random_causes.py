"""Findings about recompiles against the causes that random programs were made with.

    python -m benchmarks.random_causes                     # 500 programs in one process
    python -m benchmarks.random_causes --programs 20       # fewer; --first 100 begins at another seed
    python -m benchmarks.random_causes --show 7            # one program, its causes and its findings

`corpus/random_causes.py` plants the causes. Each call changes one cause, so a cause is real if torch compiled something
in a call that changed it. This count of torch's is the only thing that is measured; the rest is known by construction.
A program is right if the findings about recompiles are as many as its real causes, each stands at a line that reads the
value of another cause (or at a call that changed a state such as the grad mode), and its sentence names the value.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch._dynamo.utils import counters

import depyf
from benchmarks.bar import MOST_DETAILS, Bar, report
from corpus.random_causes import PlantedCause, Program
from depyf.findings import Finding, findings
from depyf.model.run import Recompile, Session

PROGRAMS = 500
LEAST_PERCENT = 98


@dataclass
class Outcome:
    """What one program showed.

    problems: what is wrong with the findings.
    compiles: how often each recompile is counted by the findings, by its id.
    causes: the number of real causes.
    """

    problems: list[str]
    compiles: dict[str, int]
    causes: int

    @property
    def miscounted(self) -> list[str]:
        """Return the recompiles that no finding counts, or several."""
        return [f"{compiled} is in {count} findings" for compiled, count in self.compiles.items() if count != 1]


def run(program: Program, file: Path) -> tuple[Session, list[PlantedCause]]:
    """Run a program on a fresh Dynamo.

    Args:
        program: the program.
        file: the path of the file to write it to.

    Returns:
        The captured run, and the causes that made torch compile something.
    """
    functions = {function.name: function for function in program.functions}
    real: dict[int, PlantedCause] = {}
    before = 0

    def changed(name: str, number: int | None) -> None:
        nonlocal before
        now = counters["frames"]["total"]
        if number is not None and now > before:
            cause = functions[name].causes[number]
            real[id(cause)] = cause
        before = now

    torch._dynamo.reset()
    counters.clear()
    torch.manual_seed(0)
    file.write_text(program.text)
    names: dict[str, Any] = {"__name__": file.stem, "CHANGED": changed}
    with depyf.prepare_debug(file.with_suffix("")) as session:
        exec(compile(program.text, str(file), "exec"), names)
    return session, list(real.values())


def is_about_recompiles(finding: Finding) -> bool:
    """Return whether a finding counts recompiles."""
    return finding.kind == "recompile-limit" or "was compiled again" in finding.cause


def judge(session: Session, causes: Sequence[PlantedCause], reported: Sequence[Finding]) -> Outcome:
    """Compare the findings of a run with its causes.

    Args:
        session: the captured run.
        causes: the causes that made torch compile something.
        reported: the findings about recompiles.

    Returns:
        What is wrong.
    """
    recompiled = [
        str(compiled.id)
        for _, compiled in session.compiles()
        if isinstance(compiled.trigger, Recompile) or compiled.failure is not None
    ]
    counts = Counter(compiled for finding in reported for compiled in finding.compiles)
    return Outcome(
        list(_problems(causes, reported)), {compiled: counts[compiled] for compiled in recompiled}, len(causes)
    )


def _problems(causes: Sequence[PlantedCause], reported: Sequence[Finding]) -> Iterator[str]:
    """Yield the causes without a finding, and the findings without a cause."""
    rest = list(reported)
    for cause in causes:
        at_line = [finding for finding in rest if finding.where is not None and finding.where.line in cause.lines]
        named = [finding for finding in at_line if any(name in finding.cause for name in cause.names)]
        kinds = ", ".join(f"{value.template} {value.name} ({value.place})" for value in cause.values)
        if named:
            rest.remove(named[0])
        elif at_line:
            rest.remove(at_line[0])
            yield f"{kinds} is not named: {at_line[0].cause}"
        else:
            yield f"no finding for {kinds} at {sorted(cause.lines)}"
    for finding in rest:
        line = finding.where.line if finding.where is not None else 0
        yield f"no cause at line {line}: {finding.cause}"


def outcome(seed: int, folder: Path) -> Outcome:
    """Return what the program of a seed showed."""
    session, causes = run(Program(seed), folder / f"random_{seed}.py")
    return judge(session, causes, [finding for finding in findings(session) if is_about_recompiles(finding)])


def show(seed: int, folder: Path) -> None:
    """Print a program, its causes and its findings."""
    program = Program(seed)
    for number, line in enumerate(program.text.splitlines(), 1):
        print(f"{number:4} {line}")
    session, causes = run(program, folder / f"random_{seed}.py")
    reported = [finding for finding in findings(session) if is_about_recompiles(finding)]
    for cause in causes:
        print("cause:", sorted(cause.names), sorted(cause.lines))
    for finding in reported:
        print(f"{finding.kind}, {finding.severity}, {finding.compiles}: {finding.line}")
    result = judge(session, causes, reported)
    print("\n".join([*result.problems, *result.miscounted]) or "right")


def bars(outcomes: dict[int, Outcome]) -> list[Bar]:
    """Return the bars over judged programs, by seed."""
    wrong = [
        f"{seed}: {'; '.join(judged_program.problems)}"
        for seed, judged_program in outcomes.items()
        if judged_program.problems
    ]
    miscounted = [
        f"{seed}: {'; '.join(judged_program.miscounted)}"
        for seed, judged_program in outcomes.items()
        if judged_program.miscounted
    ]
    compiles = sum(len(judged_program.compiles) for judged_program in outcomes.values())
    once = compiles - sum(len(judged_program.miscounted) for judged_program in outcomes.values())
    right, total = len(outcomes) - len(wrong), len(outcomes)
    note = f"{sum(judged_program.causes for judged_program in outcomes.values())} causes"
    is_met = right * 100 >= total * LEAST_PERCENT
    return [
        Bar("random causes: programs right", f"{right} of {total}", is_met, wrong[:MOST_DETAILS], note),
        Bar("random causes: recompiles in one finding", f"{once} of {compiles}", not miscounted, miscounted),
    ]


def main() -> None:
    """Print the bars."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.random_causes")
    parser.add_argument("--programs", type=int, default=PROGRAMS)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, nargs="+", help="only these programs")
    parser.add_argument("--show", type=int, metavar="SEED", help="print one program and its findings")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as scratch:
        if options.show is not None:
            show(options.show, Path(scratch))
            return
        seeds = options.seeds or range(options.first, options.first + options.programs)
        outcomes = {}
        for seed in seeds:
            outcomes[seed] = outcome(seed, Path(scratch))
            if sys.stderr.isatty():
                print(f"\r{seed}", end="", file=sys.stderr)
    report(bars(outcomes))


if __name__ == "__main__":
    main()
