"""Instructions that are decompiled and proven a second, beside an earlier commit, in turns.

python -m benchmarks.throughput --against COMMIT
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

from benchmarks.bar import Bar, report

ROOT = Path(__file__).parents[1]
MODULES = "argparse ast calendar collections csv difflib inspect tarfile textwrap zipfile"
ROUNDS = 5
LEAST = 2.0
CHILD = """
import dis, importlib.util, sys, time, types, warnings
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
for name in sys.argv[1:]:
    path = importlib.util.find_spec(name).origin
    codes.append(compile(open(path, "rb").read(), path, "exec", dont_inherit=True))
decompile_module(read(codes[2]))
began = time.process_time()
for code in codes:
    decompile_module(read(code))
print(sum(map(count, codes)), time.process_time() - began)
"""


def rate(tree: Path) -> float:
    """Return the instructions a second of a tree."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    command = [sys.executable, "-c", CHILD, *MODULES.split()]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=tree)
    instructions, taken = done.stdout.split()
    return float(instructions) / float(taken)


def measure(commit: str) -> list[Bar]:
    """Measure both trees in turns."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=BytesIO(archive)) as packed:
            packed.extractall(folder)
        pairs = [(rate(Path(folder)), rate(ROOT)) for _ in range(ROUNDS)]
    ratio = statistics.median(now / before for before, now in pairs)
    before, now = (statistics.median(rates) for rates in zip(*pairs))
    note = f"{now:,.0f} against {before:,.0f} at {commit}; {ROUNDS} pairs; bar {LEAST}"
    return [Bar("ratio of instructions per second", f"{ratio:.2f}", ratio >= LEAST, note=note)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", required=True, help="a commit")
    report(measure(parser.parse_args().against))
