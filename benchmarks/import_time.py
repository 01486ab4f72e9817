"""`import depyf` beside `python -c pass`, in turns, that it does not import torch, and what `prepare_debug` loads."""

from __future__ import annotations

import compileall
import statistics
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.bar import Bar, report

ROUNDS = 20
FEWER = 5
LONGEST = 150
"""Milliseconds of the processor that the first `prepare_debug` may take to load."""
FIRST = """
import sys, time, torch, torch._dynamo
before, began = set(sys.modules), time.process_time()
import depyf
depyf.prepare_debug
print((time.process_time() - began) * 1000, len(set(sys.modules) - before))
"""


def _milliseconds(program: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    return (time.perf_counter() - began) * 1000


def first() -> list[Bar]:
    """Time the modules that the first `prepare_debug` loads, from bytecode, as in an installation by pip."""
    compileall.compile_dir(str(Path(__file__).parents[1] / "src" / "depyf"), quiet=1)
    command = [sys.executable, "-c", FIRST]
    done = [subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout for _ in range(FEWER)]
    taken = statistics.median(float(line.split()[0]) for line in done)
    modules = Bar("modules that the first prepare_debug loads", done[-1].split()[1], True)
    time_to_load = f"{taken:.0f} ms"
    return [Bar("time to load the first prepare_debug", time_to_load, taken <= LONGEST, note=f"aim {LONGEST}"), modules]


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
        Bar("time of `import depyf`", f"{ours - bare:.1f} ms", True, note=f"{ours:.1f} - {bare:.1f} ms, medians"),
        Bar("`import depyf` imports torch (1 for yes)", str(int(imports_torch)), not imports_torch),
        *first(),
    ]


if __name__ == "__main__":
    report(measure())
