"""`make demo` from a fresh clone: minutes."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.bar import Bar, report

ROOT = Path(__file__).resolve().parent.parent


def measure() -> list[Bar]:
    """Clone what is committed, run `make demo` there, and again."""
    with tempfile.TemporaryDirectory() as scratch:
        clone = Path(scratch) / "depyf"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        minutes = []
        for _ in range(2):
            began = time.perf_counter()
            done = subprocess.run(["make", "demo"], cwd=clone, check=False, capture_output=True, text=True)
            minutes.append((time.perf_counter() - began) / 60)
    note = f"{minutes[1]:.1f} min the second time"
    problem = [] if done.returncode == 0 else (done.stdout + done.stderr).splitlines()[-10:]
    return [Bar("`make demo` from a fresh clone", f"{minutes[0]:.1f} min", done.returncode == 0, problem, note)]


if __name__ == "__main__":
    report(measure())
