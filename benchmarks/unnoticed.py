"""Nothing that a program can notice: features of torch, each plain and in a context, compared in all that they show.

    python -m benchmarks.unnoticed [--python PYTHON] [--warm] [FEATURE ...]

Compared are results bit by bit, exceptions with the frames of their tracebacks, warnings and log records with their
places, stdout, stderr, the exit code, torch's attributes and settings, loggers, environment, threads, signal handlers,
random numbers, both inside of the context and after it, and after it open descriptors and tensors that live on. What
differs between two plain runs is counted, not compared. Peak memory is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.bar import Bar, none_of, report
from benchmarks.features import QUICK_KERNELS, load

FEATURES_AT_LEAST = 120
CHUNK = 12
"""Features that run in one go, each way: what is found is printed after each."""
_NOT_COMPARED = ("feature", "memory")


def runs(mode: str, names: Sequence[str], scratch: str, python: str) -> dict[str, dict[str, Any]]:
    """Run features in one process; return what was seen of each."""
    environment = {**os.environ, **QUICK_KERNELS} | {
        "PYTHONHASHSEED": "0",
        "DEPYF_SUMMARY": "0",
    }
    command = [python, "-m", "benchmarks.unnoticed_run", mode, scratch, *names]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return {each["feature"]: each for each in map(json.loads, done.stdout.splitlines())}


def differences(one: object, other: object, where: str = "") -> Iterator[str]:
    """Yield each place in which two runs differ, with both values."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*one, *other)):
            if where or key not in _NOT_COMPARED:
                yield from differences(one.get(key), other.get(key), f"{where}/{key}")
    elif one != other:
        yield f"{where}: {one!r:.200} -> {other!r:.200}"


def compare(
    names: Sequence[str], python: str = sys.executable, kind: str = ""
) -> tuple[dict[str, list[str]], int, list[int]]:
    """Return what differs by feature, how many places are not compared, and the memory that was added, in KiB.

    `kind` is `-warm` where features share what is imported. Features that differ are run
    plain once more: a place in which two plain runs differ says nothing.
    """
    with tempfile.TemporaryDirectory() as scratch:
        plain = runs(f"plain{kind}", names, scratch, python)
        seen = runs(f"depyf{kind}", names, scratch, python)
        found = {name: list(differences(plain[name], seen[name])) for name in names}
        doubtful = [name for name in names if found[name]]
        again = runs(f"plain{kind}", doubtful, scratch, python) if doubtful else {}
    unstable = 0
    for name in doubtful:
        loose = {each.partition(":")[0] for each in differences(plain[name], again[name])}
        unstable += len(loose)
        found[name] = [each for each in found[name] if each.partition(":")[0] not in loose]
    added = [seen[name].get("memory", 0) - plain[name].get("memory", 0) for name in names]
    return {name: each for name, each in found.items() if each}, unstable, added


def main() -> None:
    """Run the features and print the bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="the interpreter, with torch and depyf")
    parser.add_argument("--warm", action="store_true", help="import Inductor once, and not in each feature")
    parser.add_argument("features", nargs="*")
    arguments = parser.parse_args()
    names = arguments.features or list(load())
    kind = "-warm" if arguments.warm else ""
    found: dict[str, list[str]] = {}
    unstable, added = 0, list[int]()
    for first in range(0, len(names), CHUNK):
        differing, loose, memory = compare(names[first : first + CHUNK], arguments.python, kind)
        found |= differing
        unstable, added = unstable + loose, added + memory
        for name, places in differing.items():
            print(name, *places, sep="\n    ", flush=True)
        print(f"{min(first + CHUNK, len(names))} of {len(names)}", flush=True)
    print(f"{unstable} places differ between plain runs and are not compared")
    print(f"peak memory added: median {statistics.median(added) / 1024:.1f} MiB, at most {max(added) / 1024:.1f} MiB")
    enough = arguments.features or len(names) >= FEATURES_AT_LEAST
    report(
        [
            none_of("features in which a program can notice depyf", list(found), f"{len(names)}"),
            Bar("features that are compared", str(len(names)), bool(enough)),
        ]
    )


if __name__ == "__main__":
    main()
