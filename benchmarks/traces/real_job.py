"""Runs jobs of 4 gloo ranks whose last rank gets another shape; reports them: `python -m benchmarks.traces.real_job`.

One job is DDP with collectives, the other FSDP2 and tensor parallel. The page must name the rank, the function and the
shape. Prints what it names.
"""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parents[2] / "tests" / "trace" / "programs"
JOBS = {"ranks.py": "step", "sharded.py": "forward"}
"""The program of a job, and the function that its last rank compiles once more."""
SIZE = 4
_TAGS = re.compile(r"<[^>]*>")


def main() -> None:
    """Run the jobs, and print what the page names."""
    failed = 0
    for program, function in JOBS.items():
        with tempfile.TemporaryDirectory() as folder:
            run(PROGRAMS / program, Path(folder))
            wrong = list(wrongs(Path(folder), function))
        failed += bool(wrong)
        print(f"{program}: {'; '.join(wrong) or 'named'}")
    sys.exit(bool(failed))


def run(program: Path, folder: Path) -> None:
    """Run a program on all ranks, each with a trace in `folder/traces`.

    Raises:
        RuntimeError: a rank failed.
    """
    environment = os.environ | {"TORCH_TRACE": str(folder / "traces"), "OMP_NUM_THREADS": "1"}
    ranks = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", str(program), str(rank), str(SIZE), str(folder / "store")],
            env=environment | {"TORCHINDUCTOR_CACHE_DIR": str(folder / f"cache_{rank}")},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(SIZE)
    ]
    for process in ranks:
        _, errors = process.communicate(timeout=600)
        if process.returncode:
            raise RuntimeError(errors[-2000:])


def wrongs(folder: Path, function: str) -> Iterator[str]:
    """Report the job, and yield what the page should name and does not."""
    output = folder / "out"
    command = [sys.executable, "-m", "depyf", "report", str(folder / "traces"), "-o", str(output)]
    subprocess.run(command, check=True, capture_output=True)
    divergences = json.loads((output / "ranks.json").read_text())["divergences"]
    for divergence in divergences:
        print(f"  {divergence['kind']}, ranks {divergence['ranks']}: {divergence['cause']}")
    of_rank = [divergence for divergence in divergences if divergence["ranks"] == str(SIZE - 1)]
    if [divergence["ranks"] for divergence in divergences if divergence["kind"] != "slow rank"] != [str(SIZE - 1)]:
        yield "other ranks are named"
    page = html.unescape(_TAGS.sub("", (output / "report" / "index.html").read_text()))
    if not any(f"`{function}`" in divergence["cause"] and "17" in divergence["cause"] for divergence in of_rank):
        yield "the function or the shape is not named"
    elif "actual 17" not in page:
        yield "it is not on the page"


if __name__ == "__main__":
    main()
