"""Run `benchmarks/roundtrip` over the standard library of every Python at hand, and print the tables for the docs.

    python -m benchmarks.measure_roundtrip [--functions 3000] [--modules 200] [--python 3.11 ...] [--cross]

Pythons are looked for in the folders of DEPYF_TEST_PYTHONS, as `python3.X` on PATH, and among pyenv's. Those that depyf
runs on measure it in process; for the older ones, and with `--cross` for all, this Python reads the `.pyc` that they
make.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchmarks.interpreters import find

ROOT = Path(__file__).resolve().parent.parent
ROUNDTRIP = ROOT / "benchmarks" / "roundtrip" / "roundtrip.py"
MINORS = range(7, 16)
OLDEST_HOST = 10
BROKEN = ("fail", "noparse", "nocompile", "timeout", "crash")


@dataclass(frozen=True)
class Interpreter:
    """A CPython at hand, of version 3.`minor`."""

    minor: int
    path: str

    @property
    def hosts_depyf(self) -> bool:
        """Return whether depyf itself runs on it."""
        return self.minor >= OLDEST_HOST


def interpreters() -> list[Interpreter]:
    """Return one working interpreter of each version, oldest first."""
    paths = [(minor, find((3, minor))) for minor in MINORS]
    return [Interpreter(minor, path) for minor, path in paths if path is not None]


def measure(interpreter: Interpreter, mode: str, sample: int, arguments: argparse.Namespace) -> list[dict[str, object]]:
    """Return what the round trip says of each object of the sample."""
    adapter = "ours" if interpreter.hosts_depyf and not arguments.cross else "ours_cross"
    environment = os.environ | {"OURS_PATH": str(ROOT / "src"), "OURS_PYTHON": sys.executable}
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "objects.jsonl"
        command = [interpreter.path, str(ROUNDTRIP), "run", "--adapter", adapter, "--corpus", arguments.corpus]
        command += ["--mode", mode, "--sample", str(sample), "--seed", str(arguments.seed)]
        command += ["--limit", "5", "--out", str(out)]
        subprocess.run(command, env=environment, check=True, stdout=sys.stderr)
        return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def row(interpreter: Interpreter, objects: list[dict[str, object]]) -> str:
    """Return a line of the table: shares of what was measured, and the count of what broke."""
    statuses = Counter(str(code_object["status"]) for code_object in objects)
    counted = {key: sum(bool(code_object[key]) for code_object in objects) for key in ("exact", "doc", "linear")}
    share = {key: 100 * count / max(1, len(objects)) for key, count in counted.items()}
    broken = sum(statuses[status] for status in BROKEN)
    times = sorted(float(str(code_object["t"] or 0)) for code_object in objects)
    slow = times[int(len(times) * 0.99)] * 1000 if times else 0.0
    return (
        f"| 3.{interpreter.minor} | {len(objects)} | {share['exact']:.1f} | {share['doc']:.1f} | {share['linear']:.1f} "
        f"| {statuses['wrong']} | {broken} | {sum(times):.1f} | {slow:.0f} |"
    )


def print_table(mode: str, sample: int, arguments: argparse.Namespace) -> None:
    """Print the table of functions or modules, a row as soon as it is known."""
    date = datetime.date.today().isoformat()
    print(f"\n{mode}s of {arguments.corpus}, seed {arguments.seed}, {date}\n")
    print("| Python | objects | exact % | exact with docstrings % | in order % | wrong | broken | total s | p99 ms |")
    print("|---|---|---|---|---|---|---|---|---|")
    wanted = set(arguments.python)
    for interpreter in interpreters():
        if not wanted or f"3.{interpreter.minor}" in wanted:
            print(row(interpreter, measure(interpreter, mode, sample, arguments)), flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=3000, help="functions per Python; 0 for no table of them")
    parser.add_argument("--modules", type=int, default=200, help="modules per Python; 0 for no table of them")
    parser.add_argument("--seed", type=int, default=0, help="of the samples")
    parser.add_argument("--corpus", default="stdlib", help="'stdlib' or a directory")
    parser.add_argument("--python", action="append", default=[], help="only this version, e.g. 3.11; may be repeated")
    parser.add_argument("--cross", action="store_true", help="have this Python read the bytecode of all others")
    arguments = parser.parse_args()
    for mode, sample in (("function", arguments.functions), ("module", arguments.modules)):
        if sample:
            print_table(mode, sample, arguments)


if __name__ == "__main__":
    main()
