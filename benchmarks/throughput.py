"""Instructions that are decompiled and proven a second, beside an earlier commit, in turns.

    python -m benchmarks.throughput --against COMMIT [--rounds 5]

The sample is 64 modules of the library, evenly spaced in the order of their names. Both trees decompile the same
modules in turns. The ratio is the median over the turns, in processor time of one process.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

from benchmarks.bar import Bar, report

ROOT = Path(__file__).parents[1]
MODULES = "argparse ast calendar collections csv difflib inspect tarfile textwrap zipfile"
COUNT = 64
"""The modules of the sample."""
SMALLEST = 4096
"""Bytes of the smallest module of the sample."""
LEAST = 1.6
CHILD = """
import dis, sys, time, types, warnings
try:
    from depyf.decompiler.module import decompile_module
except ImportError:
    from depyf.decompiled_module import decompile_module
from depyf.bytecode.reader import read

def count(code):
    work, found = [code], 0
    for one in work:
        found += sum(1 for _ in dis.get_instructions(one))
        work += [const for const in one.co_consts if isinstance(const, types.CodeType)]
    return found

warnings.simplefilter("ignore")
codes = []
for path in sys.argv[1:]:
    codes.append(compile(open(path, "rb").read(), path, "exec", dont_inherit=True))
decompile_module(read(codes[2]))
began = time.process_time()
for code in codes:
    decompile_module(read(code))
print(sum(map(count, codes)), time.process_time() - began)
"""


def sample() -> list[str]:
    """Return the paths of the modules."""
    paths = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    large = [str(path) for path in paths if path.stat().st_size >= SMALLEST]
    return [large[place * len(large) // COUNT] for place in range(COUNT)]


def rate(tree: Path, paths: list[str]) -> float:
    """Return the instructions a second of a tree."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    command = [sys.executable, "-c", CHILD, *paths]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=tree)
    instructions, taken = done.stdout.split()
    return float(instructions) / float(taken)


def measure(commit: str, rounds: int) -> list[Bar]:
    """Measure both trees in turns."""
    paths = sample()
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=BytesIO(archive)) as packed:
            packed.extractall(folder)
        pairs = [(rate(Path(folder), paths), rate(ROOT, paths)) for _ in range(rounds)]
    ratio = statistics.median(now / before for before, now in pairs)
    before, now = (statistics.median(rates) for rates in zip(*pairs))
    note = f"{now:,.0f} against {before:,.0f} at {commit}; {rounds} pairs of {len(paths)} modules; bar {LEAST}"
    return [Bar("ratio of instructions per second", f"{ratio:.2f}", ratio >= LEAST, note=note)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", required=True, help="a commit")
    parser.add_argument("--rounds", type=int, default=5, help="so many pairs")
    arguments = parser.parse_args()
    report(measure(arguments.against, arguments.rounds))
