"""What building the report costs beside the run that it tells of.

    python -m benchmarks.report_cost

Programs run under `depyf run --no-html`; then their reports are built, in a process that has imported what builds them,
as `depyf run` has by the end of the program. Seconds are the processor's: the machine may be shared. A program runs
with its compiler's caches empty, then full; the second run, the shorter one, counts. Exit code 1 if building takes 5 %
of a run or more. `benchmarks.report_size` has the numbers of 1,000 frames.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
AIM = 0.05
PROGRAMS = (
    ("examples/toy_example.py", "eager"),
    ("examples/toy_example.py", "inductor"),
    ("examples/training_step.py", "eager"),
    ("examples/training_step.py", "aot_eager"),
    ("examples/training_step.py", "inductor"),
    ("corpus/launched/torch_cases.py", "eager"),
    ("corpus/launched/torch_cases.py", "aot_eager"),
)
BUILD = """
import sys, time
from pathlib import Path
from depyf.views.html.build import build_report
began = time.process_time()
made = build_report(Path(sys.argv[1]))
print(time.process_time() - began, made.size)
"""


@dataclass(frozen=True)
class Cost:
    """Seconds of the processor for a run and for its report, and the report's size in bytes."""

    run: float
    build: float
    size: int


def measured(program: tuple[str, ...], folder: Path) -> Cost:
    """Run a program twice with one cache, and build the report of the second run."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }
    spent = 0.0
    for attempt in ("cold", "warm"):
        before = _seconds_of_children()
        command = ["-m", "depyf", "run", "--no-html", "--log-bytecode", "-o", str(folder / attempt), *program]
        subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, check=True)
        spent = _seconds_of_children() - before
    built = subprocess.run(
        [sys.executable, "-c", BUILD, str(folder / "warm")], env=environment, capture_output=True, text=True, check=True
    )
    seconds, size = built.stdout.split()
    return Cost(spent, float(seconds), int(size))


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print a line for each program."""
    worst = 0.0
    for program in PROGRAMS:
        with tempfile.TemporaryDirectory() as temporary:
            costs = measured(program, Path(temporary))
        part = costs.build / costs.run
        worst = max(worst, part)
        print(
            f"{' '.join(program):46} run {costs.run:6.1f} s, report {1000 * costs.build:5.0f} ms, "
            f"{costs.size / 1e6:.2f} MB: {part:.1%}",
            flush=True,
        )
    print(f"at most {worst:.1%} of a run (aim: less than {AIM:.0%})")
    sys.exit(worst >= AIM)


if __name__ == "__main__":
    main()
