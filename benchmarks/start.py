"""The processor time of one small command from its start to its end, with bytecode as where pip has installed depyf.

python -m benchmarks.start
"""

from __future__ import annotations

import compileall
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.bar import Bar, report

COMMAND = [sys.executable, "-m", "depyf", "decompile", "calendar:isleap"]
ROUNDS = 9
MOST = 0.25
"""Seconds of the processor."""


def seconds() -> float:
    """Return the processor time that the command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(COMMAND, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure() -> list[Bar]:
    """Run the command several times."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(str(Path(__file__).parents[1] / "src" / "depyf"), quiet=1)
    seconds()
    taken = [seconds() for _ in range(ROUNDS)]
    median = statistics.median(taken)
    note = f"median of {ROUNDS}; least {min(taken):.2f}, most {max(taken):.2f}; bar {MOST}"
    return [Bar("depyf decompile calendar:isleap", f"{median:.2f} s", median <= MOST, note=note)]


if __name__ == "__main__":
    report(measure())
