"""`import depyf` beside `python -c pass`, in turns, that it does not import torch, and what `prepare_debug` loads."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

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


def first(*, compiled: bool) -> Bar:
    """Time what the first `prepare_debug` loads, from bytecode as where pip has installed it, or from the source."""
    with tempfile.TemporaryDirectory() as scratch:
        cache = os.environ | {"PYTHONPYCACHEPREFIX": scratch}
        cache |= {"PYTHONDONTWRITEBYTECODE": "" if compiled else "1"}
        runs = []
        for _ in range(FEWER + compiled):
            done = subprocess.run([sys.executable, "-c", FIRST], env=cache, stdout=subprocess.PIPE, text=True, check=True)
            runs.append(done.stdout.split())
    taken = statistics.median(float(one[0]) for one in runs[compiled:])
    what = "from bytecode" if compiled else "from source"
    number = f"{taken:.0f} ms, {runs[-1][1]} modules"
    return Bar(f"what the first prepare_debug loads, {what} (aim {LONGEST} ms)", number, taken <= LONGEST)


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
        first(compiled=True),
        first(compiled=False),
    ]


if __name__ == "__main__":
    report(measure())
