"""`import depyf` beside `python -c pass`, in turns; and that it does not import torch."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from benchmarks.bar import Bar, report

ROUNDS = 20


def _milliseconds(program: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    return (time.perf_counter() - began) * 1000


def measure() -> list[Bar]:
    """Time both programs in turns, and ask the second for torch."""
    programs = ("pass", "import depyf")
    times: dict[str, list[float]] = {program: [] for program in programs}
    for _ in range(ROUNDS):
        for program in programs:
            times[program].append(_milliseconds(program))
    bare, ours = (statistics.median(times[program]) for program in programs)
    asked = [sys.executable, "-c", "import sys, depyf; sys.exit('torch' in sys.modules)"]
    imports_torch = subprocess.run(asked, check=False).returncode != 0
    return [
        Bar("`python -c pass` | `import depyf`, median", f"{bare:.1f} ms | {ours:.1f} ms", True),
        Bar("`import depyf` imports torch", "yes" if imports_torch else "no", not imports_torch),
    ]


if __name__ == "__main__":
    report(measure())
