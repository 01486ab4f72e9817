"""Decompile and prove every module of pinned packages of PyPI, under a Python of one's choice.

    python -m benchmarks.packages FOLDER [--python 3.14 ...] [--sample 1500] [--first 0] [--seed 0]

The wheels that `pinned.txt` names are downloaded into FOLDER with pip and unpacked there, once. Prints what did not
come back: failed, text that does not compile, not proven, and what took more than a second; then a row of counts.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.interpreters import find

ROOT = Path(__file__).resolve().parent.parent.parent
PINNED = Path(__file__).with_name("pinned.txt")
JUDGE = Path(__file__).with_name("judged.py")
PROVEN = ("EXACT", "EQUIVALENT")
WHEELS_FOR = "3.13"
SLOW = 1.0


def download(folder: Path) -> list[Path]:
    """Return the modules of all pinned packages, sorted; those that are not in the folder are downloaded to it."""
    wheels = folder / "wheels"
    for pinned in PINNED.read_text(encoding="utf-8").split():
        name, _, version = pinned.partition("==")
        if any(wheels.glob(f"{name.replace('-', '_')}-{version}-*.whl")):
            continue
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*command, "--python-version", WHEELS_FOR, "-d", str(wheels), pinned], check=True)
    for wheel in sorted(wheels.glob("*.whl")):
        unpacked = folder / "modules" / wheel.stem
        if not unpacked.exists():
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(unpacked, [name for name in archive.namelist() if name.endswith(".py")])
    return sorted((folder / "modules").rglob("*.py"))


def judge(python: str, lines: list[str], jobs: int) -> list[dict[str, object]]:
    """Return what becomes of sources under a Python, in any order."""

    def run(part: list[str]) -> list[dict[str, object]]:
        text = "".join(f"{line}\n" for line in part)
        command = [python, str(JUDGE), str(ROOT / "src")]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    parts = [lines[number::jobs] for number in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        return [row for rows in pool.map(run, parts) for row in rows]


def report(label: str, rows: list[dict[str, object]]) -> bool:
    """Print what did not come back, and the counts; return whether all did."""
    valid = [row for row in rows if row["status"] != "invalid"]
    for row in valid:
        if row["status"] not in PROVEN or float(str(row["seconds"])) > SLOW:
            print(f"{row['status']} {row['seconds']:.2f} s {row['name']}: {row['reason']}")
    counts = Counter(str(row["status"]) for row in valid)
    slow = sum(float(str(row["seconds"])) > SLOW for row in valid)
    dispatched = sum(bool(row.get("dispatched")) for row in valid)
    counts_in_words = ", ".join(
        f"{status.lower()} {counts[status]}" for status in (*PROVEN, "UNPROVEN", "NOT COMPILED", "FAILED")
    )
    print(
        f"{label}: {len(valid)} sources; {counts_in_words}; over {SLOW:.0f} s {slow}; dispatched {dispatched}",
        flush=True,
    )
    return not any(counts[status] for status in ("UNPROVEN", "NOT COMPILED", "FAILED"))


def main() -> int:
    """Measure the Pythons that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the packages are, or go")
    parser.add_argument("--python", action="append", default=[], help="such as 3.14; may be repeated")
    parser.add_argument("--sample", type=int, default=0, help="so many modules, 0 for all")
    parser.add_argument("--first", type=int, default=0, help="begin with this one of the sample, to go on with another")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    arguments = parser.parse_args()
    modules = [str(path) for path in download(arguments.folder)]
    random.Random(arguments.seed).shuffle(modules)
    chosen = modules[arguments.first :][: arguments.sample or None]
    came_back = True
    for version in arguments.python or ["3.11", "3.13", "3.14"]:
        major, minor = version.split(".")
        python = find((int(major), int(minor)))
        if python is None:
            print(f"{version}: no such Python here")
            continue
        came_back &= report(version, judge(python, chosen, arguments.jobs))
    return 0 if came_back else 1


if __name__ == "__main__":
    sys.exit(main())
