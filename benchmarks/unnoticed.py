"""Nothing that a program can notice: features of torch, each plain and in a context, compared in all that they show.

    python -m benchmarks.unnoticed [--python PYTHON] [--warm] [FEATURE ...]

Compared are results bit by bit, exceptions with the frames of their tracebacks, warnings and log records with their
places, stdout, stderr, the exit code, torch's attributes and settings, loggers, environment, threads, signal handlers,
random numbers, both inside of the context and after it, and after it open descriptors and tensors that live on. A
feature that differs is run plain twice more: the places in which plain runs differ among themselves are printed apart,
not counted. Peak memory is printed.
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
from corpus.features import QUICK_KERNELS, load

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
    return {outcome["feature"]: outcome for outcome in map(json.loads, done.stdout.splitlines())}


def differences(first: object, other: object, where: str = "") -> Iterator[str]:
    """Yield each place in which two runs differ, with both values."""
    if isinstance(first, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*first, *other)):
            if where or key not in _NOT_COMPARED:
                yield from differences(first.get(key), other.get(key), f"{where}/{key}")
    elif isinstance(first, list) and isinstance(other, list) and len(first) == len(other):
        for number, pair in enumerate(zip(first, other, strict=True)):
            yield from differences(*pair, f"{where}/{number}")
    elif isinstance(first, str) and isinstance(other, str) and first.count("\n") == other.count("\n") > 0:
        yield from differences(first.split("\n"), other.split("\n"), where)
    elif first != other:
        yield f"{where}: {first!r:.200} -> {other!r:.200}"


class Comparison:
    """What differs in some features, by feature, and the memory that was added, in KiB."""

    def __init__(self) -> None:
        self.found: dict[str, list[str]] = {}
        self.unstable: dict[str, list[str]] = {}
        """Places that differed, and in which plain runs differ, too."""
        self.memory: list[int] = []

    def add(self, names: Sequence[str], python: str = sys.executable, kind: str = "") -> list[str]:
        """Compare these features; return those that differ. `kind` is `-warm` where they share what is imported."""
        with tempfile.TemporaryDirectory() as scratch:
            plain = runs(f"plain{kind}", names, scratch, python)
            seen = runs(f"depyf{kind}", names, scratch, python)
            differing = {name: places for name in names if (places := list(differences(plain[name], seen[name])))}
            again = [runs(f"plain{kind}", list(differing), scratch, python) for _ in range(2 if differing else 0)]
        for name, places in differing.items():
            loose = {_place(place) for other in again for place in differences(plain[name], other[name])}
            for kept, are_loose in ((self.found, False), (self.unstable, True)):
                if sorted_places := [place for place in places if (_place(place) in loose) is are_loose]:
                    kept[name] = sorted_places
        self.memory += [seen[name].get("memory", 0) - plain[name].get("memory", 0) for name in names]
        return [name for name in differing if name in self.found]


def _place(difference: str) -> str:
    return difference.partition(":")[0]


def main() -> None:
    """Run the features and print the bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="the interpreter, with torch and depyf")
    parser.add_argument("--warm", action="store_true", help="import Inductor once, and not in each feature")
    parser.add_argument("features", nargs="*")
    arguments = parser.parse_args()
    names = arguments.features or list(load())
    kind = "-warm" if arguments.warm else ""
    all_of_them = Comparison()
    for first in range(0, len(names), CHUNK):
        for name in all_of_them.add(names[first : first + CHUNK], arguments.python, kind):
            print(name, *all_of_them.found[name], sep="\n    ", flush=True)
        print(f"{min(first + CHUNK, len(names))} of {len(names)}", flush=True)
    unstable = {name: ", ".join(map(_place, places)) for name, places in all_of_them.unstable.items()}
    print(f"features with places in which plain runs differ, too: {len(unstable)}")
    print(*(f"    {name}: {places}" for name, places in unstable.items()), sep="\n")
    added = all_of_them.memory
    print(f"peak memory added: median {statistics.median(added) / 1024:.1f} MiB, at most {max(added) / 1024:.1f} MiB")
    enough = arguments.features or len(names) >= FEATURES_AT_LEAST
    report(
        [
            none_of("features in which a program can notice depyf", list(all_of_them.found), f"{len(names)}"),
            Bar("features that are compared", str(len(names)), bool(enough)),
        ]
    )


if __name__ == "__main__":
    main()
