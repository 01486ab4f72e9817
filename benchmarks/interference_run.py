"""One process of `benchmarks.interference`: runs subjects without depyf and with it, and prints a line for each.

`python -m benchmarks.interference_run KIND BACKEND SCRATCH NAME...`; what is printed is JSON.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from torch.utils import _pytree

import depyf
from benchmarks.dump import PROVEN, Dump
from benchmarks.dynamo_code import MODULES, bits, load, run
from corpus.dynamo_programs.program import Program
from corpus.small_models import train

MARK = "interference: "
_VARYING = re.compile(r"0x[0-9a-f]+|\b\d{9,}\b|[0-9a-f]{8}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{12}")


@dataclass
class Outcome:
    """What depyf did to one subject; nothing but `files` and `compiles` should hold anything."""

    name: str
    crash: str = ""
    different: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    files: int = 0
    compiles: int = 0


class _Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        self.said[_VARYING.sub("#", f"{record.name}: {record.getMessage()}")] += 1


@contextlib.contextmanager
def heard() -> Iterator[Counter[str]]:
    """Count the warnings and log messages that come in the context, all of them shown each time."""
    log = _Log()
    loggers = [logging.getLogger(name) for name in (None, "torch", "depyf", "transformers")]
    for logger in loggers:
        logger.addHandler(log)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield log.said
        for warning in caught:
            log.said[_VARYING.sub("#", f"{warning.category.__name__}: {warning.message}")] += 1
    finally:
        for logger in loggers:
            logger.removeHandler(log)


def _programs() -> dict[str, str]:
    """Return the module of each small program."""
    return {program.name: module for module in MODULES for program in load(module)}


def _with_gradients(program: Program, backend: str) -> list[object]:
    """Run a program on arguments that need gradients, and the backward of all that it returns."""
    torch._dynamo.reset()
    compiled = torch.compile(program.function, backend=backend)
    results: list[object] = []
    for arguments in program.calls():
        leaves: list[torch.Tensor] = []

        def needing(value: object, leaves: list[torch.Tensor] = leaves) -> object:
            if not isinstance(value, torch.Tensor) or not value.is_floating_point():
                return value
            leaves.append(value.detach().clone().requires_grad_())
            return leaves[-1] * 1

        given = _pytree.tree_map(needing, arguments)
        try:
            result = compiled(*given)
            outputs = [
                output
                for output in _pytree.tree_leaves(result)
                if isinstance(output, torch.Tensor) and output.requires_grad
            ]
            if outputs:
                torch.stack([output.double().pow(2).sum() for output in outputs]).sum().backward()
            results.append(bits([result, [leaf.grad for leaf in leaves]]))
        except Exception as error:  # noqa: BLE001 - an exception is a result like others
            results.append([type(error).__name__, _VARYING.sub("#", str(error))])
        torch.set_grad_enabled(True)
    return results


def _of_program(name: str, backend: str) -> Callable[[], dict[str, object]]:
    module = _programs()[name]

    def both() -> dict[str, object]:
        forward, training = (next(program for program in load(module) if program.name == name) for _ in range(2))
        with contextlib.redirect_stdout(sys.stderr):
            return {"forward": run(forward, backend), "with gradients": _with_gradients(training, backend)}

    return both


def _of_model(name: str, backend: str) -> Callable[[], dict[str, object]]:
    from corpus.real_models import REAL_MODELS

    def training() -> dict[str, object]:
        torch._dynamo.reset()
        return {key: bits(tensor) for key, tensor in train(REAL_MODELS[name], backend).items()}

    return training


SUBJECTS = {"program": _of_program, "model": _of_model}


def outcome(name: str, subject: Callable[[], dict[str, object]], directory: Path) -> Outcome:
    """Run a subject without depyf, then with it, and compare."""
    comparison = Outcome(name)
    try:
        with heard() as before:
            expected = subject()
    except Exception as error:  # noqa: BLE001 - the next subject can be run all the same
        comparison.crash = f"without depyf: {type(error).__name__}: {error}"[:2000]
        return comparison
    with heard() as after, depyf.prepare_debug(directory) as session:
        try:
            seen = subject()
        except Exception as error:  # noqa: BLE001 - this is what is measured
            comparison.crash = f"{type(error).__name__}: {error}"[:2000]
            return comparison
    names = sorted(expected.keys() | seen.keys())
    comparison.different = [name for name in names if expected.get(name) != seen.get(name)]
    comparison.warnings = sorted(after.keys() - before.keys())
    comparison.problems = [f"{problem.where}: {problem.message}" for problem in session.problems]
    dump = Dump(directory)
    compiles = dump.compiles()
    comparison.unreadable = dump.unreadable()
    # A frame that Dynamo gave up has no code, and there is nothing to prove.
    comparison.unproven = [str(compiled) for compiled in compiles if compiled.level and compiled.level not in PROVEN]
    comparison.files, comparison.compiles = len(dump.python_files()), len(compiles)
    return comparison


def main(kind: str, backend: str, scratch: Path, names: list[str]) -> None:
    """Run the subjects called `names`."""
    for name in names:
        directory = scratch / f"{name}_{backend}"
        shutil.rmtree(directory, ignore_errors=True)
        comparison = outcome(name, SUBJECTS[kind](name, backend), directory)
        print(f"{MARK}{json.dumps(asdict(comparison))}", flush=True)
        if not (
            comparison.crash
            or comparison.different
            or comparison.unreadable
            or comparison.problems
            or comparison.warnings
            or comparison.unproven
        ):
            shutil.rmtree(directory)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
