"""The headlines of `trace_numerics`: 60 programs whose compiled result differs from plain Python, and 60 that agree.

    python -m benchmarks.headlines                       # wrong kernels need triton, which runs in its interpreter
    python -m benchmarks.headlines --only graph          # the programs whose names begin so
    python -m benchmarks.headlines --results FILE        # keep results in a file, and continue a run that ended

The programs are those of `corpus/headlines.py`. That the results differ, or agree, is found without depyf: the function
runs plain and compiled on the same arguments.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import torch._inductor.config
from torch import Tensor
from torch.utils import _pytree

import depyf
from benchmarks.bar import MOST_DETAILS, Bar, report
from corpus.headlines import Program, programs
from depyf.torch.kernels.interpreter import interpreting
from depyf.torch.numerics.report import Kind, NumericsReport

LEAST, LEAST_LINES = 60, 55


@contextmanager
def seeded(program: Program) -> Iterator[list[int]]:
    """Put the fault of a program into the text of Inductor's kernels. The list gets the number of places."""
    from torch._inductor.codecache import PyCodeCache

    before, places = PyCodeCache.write, list[int]()
    row = program.row

    def write(source_code: str, extra: str = "") -> tuple[str, str]:
        places.append(source_code.count(row.where))
        key, path = before(source_code.replace(row.where, row.fault), extra)
        return key, path

    with interpreting(), torch._inductor.config.patch(cpu_backend="triton", force_disable_caches=True):
        if not program.is_wrong:
            yield places
            return
        with mock.patch.object(PyCodeCache, "write", staticmethod(write)):
            yield places


@contextmanager
def unseeded(_: Program) -> Iterator[list[int]]:
    """Run a program without Inductor."""
    yield [1]


def results_of(run: Callable[..., Any], arguments: tuple[Any, ...]) -> list[Tensor]:
    """Return what a call returns and what it leaves in its arguments."""
    copies = _pytree.tree_map(lambda value: value.clone(), arguments)
    return [value for value in _pytree.tree_leaves((run(*copies), copies)) if isinstance(value, Tensor)]


def agree(ours: list[Tensor], theirs: list[Tensor]) -> bool:
    """Return whether two calls gave the same, up to rounding."""
    try:
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    except AssertionError:
        return False
    return True


def outcome(program: Program, folder: Path) -> dict[str, Any]:
    """Return what depyf reports for a program, and what is known about it without depyf."""
    function, arguments, backend = program.function(folder), program.inputs(), program.backend()
    context = seeded if program.row.kind == "kernel" else unseeded
    with context(program) as places:
        torch._dynamo.reset()
        compiled = torch.compile(function, backend=backend)
        is_equal = agree(results_of(compiled, arguments), results_of(function, arguments))
        torch._dynamo.reset()
        numerics = depyf.trace_numerics(torch.compile(function, backend=backend))(*arguments)
    if program.is_wrong and not sum(places):
        raise LookupError(f"no kernel has the text {program.row.where!r}")
    lines = list(lines_of(numerics))
    return {
        "name": program.name,
        "wrong": program.is_wrong,
        "agrees": is_equal,
        "verdict": verdict(numerics),
        "line": lines[0] if lines else 0,
        "expected": program.line,
        "text": str(numerics).splitlines()[:6],
    }


def verdict(numerics: NumericsReport) -> str:
    """Return what a report claims: that the results differ, that they are equal, or nothing."""
    if any(finding.kind is Kind.DIFFERENT for finding in numerics.findings):
        return "differs"
    if numerics.whole is None or not (numerics.whole.compared or numerics.whole.mismatches):
        return "nothing"
    return "differs" if numerics.whole.mismatches else "equal"


def lines_of(numerics: NumericsReport) -> Iterator[int]:
    """Yield the lines at which a report says that the results differ, the first one first."""
    wrong = (finding for finding in numerics.findings if finding.kind is Kind.DIFFERENT)
    yield from (finding.where.line for finding in wrong if finding.where is not None)
    if numerics.whole is not None and numerics.whole.where is not None:
        yield numerics.whole.where.line


def measure(options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """Run the programs, and return the outcomes."""
    kept = Path(options.results) if options.results else folder / "results"
    results = [json.loads(row) for row in kept.read_text().splitlines()] if kept.exists() else []
    done = {result["name"] for result in results}
    has_triton = importlib.util.find_spec("triton") is not None
    for program in programs():
        is_wanted = program.name.startswith(options.only) and (has_triton or program.row.kind != "kernel")
        if program.name in done or not is_wanted:
            continue
        try:
            result = outcome(program, folder)
        except Exception as error:  # noqa: BLE001 - the outcome of a program that fails is its error
            result = {"name": program.name, "error": f"{type(error).__name__}: {error}"[:300]}
        results.append(result)
        with kept.open("a") as file:
            file.write(json.dumps(result) + "\n")
        print(json.dumps(result), file=sys.stderr, flush=True)
    return results


def bars(results: list[dict[str, Any]]) -> list[Bar]:
    """Return the bars over the outcomes."""
    errors = [f"{result['name']}: {result['error']}" for result in results if "error" in result]
    good = [result for result in results if "error" not in result]
    wrong = [result for result in good if result["wrong"] and not result["agrees"]]
    right = [result for result in good if not result["wrong"] and result["agrees"]]
    left = [result["name"] for result in good if result["wrong"] == result["agrees"]]
    equal = [result["name"] for result in wrong if result["verdict"] != "differs"]
    differ = [result["name"] for result in right if result["verdict"] != "equal"]
    other = [
        f"{result['name']}: line {result['line']}, not {result['expected']}: {result['text']}"
        for result in wrong
        if result["line"] != result["expected"]
    ]
    note = f"left out: {len(left)} programs that are not as planted here"
    lines = len(wrong) - len(other)
    return [
        Bar(
            "headlines: differing programs not called different",
            f"{len(equal)} of {len(wrong)}",
            not equal,
            equal,
            note,
        ),
        Bar("headlines: equal programs not called equal", f"{len(differ)} of {len(right)}", not differ, differ),
        Bar("headlines: first line right", f"{lines} of {len(wrong)}", lines >= LEAST_LINES, other[:MOST_DETAILS]),
        Bar("headlines: programs that fail", f"{len(errors)} of {len(results)}", not errors, errors[:MOST_DETAILS]),
    ]


def main() -> None:
    """Print the bars."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.headlines")
    parser.add_argument("--only", default="", help="programs whose names begin so")
    parser.add_argument("--results", help="a file that keeps the outcomes")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as scratch:
        results = measure(options, Path(scratch))
    report(bars(results))


if __name__ == "__main__":
    main()
