"""Training steps of real models, with depyf and without: the same results, bit for bit, and a dump that holds.

Each run is a process of its own: `python -m benchmarks.models NAME BACKEND` runs one pair.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.bar import Bar, none_of, report
from benchmarks.dump import PROVEN, Dump
from corpus.small_models import TRAININGS, train

_WARNED = "depyf warned: "


def _one_run(name: str, backend: str, results: str, directory: str) -> None:
    """Train, dumping to `directory` unless it is empty, and save what came out to `results`."""
    import contextlib
    import warnings

    import torch

    import depyf

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with depyf.prepare_debug(directory) if directory else contextlib.nullcontext():
            torch.save(train(TRAININGS[name], backend), results)
    for warning in caught:
        if "depyf" in f"{warning.filename} {warning.category.__module__} {warning.message}":
            print(f"{_WARNED}{warning.message}")


def _in_a_process_of_its_own(name: str, backend: str, results: Path, directory: Path | None, cache: Path) -> list[str]:
    """Run it, and return depyf's warnings."""
    # Two threads may add numbers up in another order than the same two the next time.
    environment = os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.models", "--run", name, backend, str(results), str(directory or "")]
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{name} with {backend} died:\n{done.stderr[-4000:]}")
    return [line for line in (done.stdout + done.stderr).splitlines() if line.startswith(_WARNED)]


def differences(with_depyf: Path, without: Path) -> tuple[list[str], int]:
    """Return the names of the tensors that are not the same bit for bit, and how many there are."""
    import torch

    ours, plain = torch.load(with_depyf), torch.load(without)
    names = sorted(ours.keys() | plain.keys())
    wrong = [name for name in names if name not in ours or name not in plain or not _same(ours[name], plain[name])]
    return wrong, len(names)


def _same(a: object, b: object) -> bool:
    """Return whether two tensors have the same type, shape and bits (a NaN is what it is)."""
    import torch

    assert isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)
    return a.dtype == b.dtype and a.shape == b.shape and a.numpy().tobytes() == b.numpy().tobytes()


def measure_one(name: str, backend: str) -> list[Bar]:
    """Train one model with one backend, with depyf and without."""
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch)
        dump = Dump(here / "dump")
        warned = _in_a_process_of_its_own(name, backend, here / "with", dump.directory, here / "cache_with")
        _in_a_process_of_its_own(name, backend, here / "without", None, here / "cache_without")
        wrong, tensors = differences(here / "with", here / "without")
        compiles = dump.compiles()
        unproven = [str(compiled) for compiled in compiles if compiled.level not in PROVEN]
        operations = sum(compiled.operations for compiled in compiles)
        what = f"{name}, {backend}"
        return [
            none_of(f"{what}: results and gradients that differ", wrong, f"{tensors} tensors"),
            none_of(f"{what}: files that do not compile", dump.unreadable(), f"{len(dump.python_files())}"),
            none_of(f"{what}: compiles that are neither EXACT nor EQUIVALENT", unproven, f"{len(compiles)}"),
            Bar(f"{what}: operations in its graphs", str(operations), operations > 0),
            none_of(f"{what}: warnings", warned, "any"),
        ]


def measure() -> list[Bar]:
    """Train every model with each of its backends."""
    pairs = [(name, backend) for name, training in TRAININGS.items() for backend in training.backends]
    return [bar for name, backend in pairs for bar in measure_one(name, backend)]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--run", name, backend, results, directory]:
            _one_run(name, backend, results, directory)
        case [name, backend]:
            report(measure_one(name, backend))
        case _:
            report(measure())
