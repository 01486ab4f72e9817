"""The answer of `depyf show --json --budget 2000` for programs with one seeded problem each.

    python -m benchmarks.brief_answers               # all
    python -m benchmarks.brief_answers NAME...       # some

Bars: every answer keeps to the budget, and in all but one of forty the first finding names the right kind and the right
line, as in `benchmarks.first_finding`. Exits with 1 where a bar is missed.
"""

from __future__ import annotations

import json
import linecache
import logging
import sys
import tempfile
import warnings
from pathlib import Path

import torch

import depyf
from benchmarks import first_finding  # noqa: F401 - imports the programs
from benchmarks.bar import Bar, none_of, report
from corpus.problems.seeded import HERE, PROBLEMS
from depyf.views.brief.answer import Question, answer
from depyf.views.brief.tokens import count

BUDGET = 2000


def answered(name: str) -> str:
    """Return the answer about a program, run on a fresh Dynamo."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as scratch:
        with depyf.prepare_debug(scratch):
            PROBLEMS[name][1]()
        return answer(Question({"program": depyf.read_run(Path(scratch))}, BUDGET))


def wrong(name: str, text: str) -> str:
    """Return what is wrong with the first finding of an answer, empty where it is right."""
    kinds = PROBLEMS[name][0]
    found_findings = json.loads(text)["findings"]
    if not found_findings:
        return f"{name}: no finding"
    first = found_findings[0]
    marked = first["file"] is not None and HERE in linecache.getline(first["file"], first["line"])
    if first["kind"] in kinds and (marked and first["severity"] != "low" or kinds & {"train-eval"}):
        return ""
    return f"{name}: {first['kind']}, {first['severity']}, {first['file']}:{first['line']}: {first['cause']}"


def main(names: list[str]) -> None:
    """Run the programs and report the bars."""
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    answers = {name: answered(name) for name in names or list(PROBLEMS)}
    above = [f"{name}: {count(text)}" for name, text in answers.items() if count(text) > BUDGET]
    misses = [miss for name, text in answers.items() if (miss := wrong(name, text))]
    right = f"{len(answers) - len(misses)} of {len(answers)}"
    report(
        [
            none_of(f"answers above {BUDGET} tokens", above, f"{len(answers)} answers"),
            Bar("answers whose first finding is right", right, len(misses) <= len(answers) // 40, misses),
        ]
    )


if __name__ == "__main__":
    main(sys.argv[1:])
