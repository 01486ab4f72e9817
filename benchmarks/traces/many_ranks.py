"""Times the report of many ranks beside tlparse's: `python -m benchmarks.traces.many_ranks [RANKS...] [--copies N]`.

The ranks are copies of one trace with another process id and time; every hundredth lacks its last compile. With
`--copies`, each rank has the compiles of the trace so many times, as other frames. Prints wall time, the peak memory of
a process, and the size of the output; of several numbers of ranks also the exponent with which time grows. `--alone`
leaves tlparse out. `--make DIR` only makes the ranks there, and `--use DIR` takes those that were made.
"""

from __future__ import annotations

import argparse
import gzip
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BASE = Path(__file__).resolve().parents[2] / "tests" / "trace" / "data" / "small_2.13_inductor.log.gz"
_HEAD = re.compile(rb"^(V\d{4} \d\d:)\d\d(:\d\d\.\d{6} +)\d+", re.MULTILINE)
_LAST = re.compile(rb'^V[^\n]*"dynamo_start"', re.MULTILINE)
_FRAME = re.compile(rb'"frame_id": (\d+)')


def make_ranks(folder: Path, count: int, text: bytes) -> None:
    """Write the traces of a job."""
    starts = [match.start() for match in _LAST.finditer(text)]
    folder.mkdir(parents=True)
    for rank in range(count):
        rank_text = text[: starts[-1]] if rank % 100 == 99 else text
        rank_text = _HEAD.sub(rb"\g<1>%02d\g<2>%d" % (rank % 60, 1000 + rank), rank_text)
        (folder / f"dedicated_log_torch_trace_rank_{rank}_x.log").write_bytes(rank_text)


def longer(text: bytes, copies: int) -> bytes:
    """Return a trace with the compiles of another several times, each as a frame of its own."""
    frames = max(int(match[1]) for match in _FRAME.finditer(text)) + 1

    def moved(copy: int) -> bytes:
        return _FRAME.sub(lambda match: b'"frame_id": %d' % (int(match[1]) + copy * frames), text)

    return b"".join(moved(copy) for copy in range(copies))


def first_ranks(job: Path, count: int, folder: Path) -> Path:
    """Return a job of the first ranks of another: links to their traces."""
    folder.mkdir()
    for rank in range(count):
        name = f"dedicated_log_torch_trace_rank_{rank}_x.log"
        os.link(job / name, folder / name)
    return folder


def timed(command: list[str], output: Path) -> tuple[float, float, int]:
    """Return the wall time of a command in seconds, the peak memory of one process in MB, and its output in bytes."""
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    spent = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return spent, peak, sum(path.stat().st_size for path in output.rglob("*") if path.is_file())


def compared(job: Path, folder: Path, alone: bool) -> float:
    """Time the report of a job, and print it; return its seconds."""
    size = sum(path.stat().st_size for path in job.iterdir())
    count = sum(1 for _ in job.iterdir())
    print(f"{count} ranks of {size / count / 1e6:.1f} MB", flush=True)
    ours, theirs = folder / "ours", folder / "theirs"
    commands = {"depyf": ([sys.executable, "-m", "depyf", "report", str(job), "-o", str(ours)], ours)}
    if not alone:
        command = ["tlparse", str(job), "-o", str(theirs), "--overwrite", "--no-browser", "--all-ranks-html"]
        commands["tlparse"] = (command, theirs)
    times = []
    for name, (command, output) in commands.items():
        spent, peak, written = timed(command, output)
        times.append(spent)
        print(f"  {name}: {spent:.1f} s, {peak:.0f} MB at most so far, {written / 1e6:.1f} MB of output", flush=True)
    return times[0]


def main() -> None:
    """Make the ranks and time both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("ranks", type=int, nargs="*", default=[100])
    parser.add_argument("--base", type=Path, default=BASE)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--make", type=Path)
    parser.add_argument("--use", type=Path)
    given = parser.parse_args()
    raw = given.base.read_bytes()
    text = longer(gzip.decompress(raw) if given.base.suffix == ".gz" else raw, given.copies)
    if given.make:
        make_ranks(given.make, max(given.ranks), text)
        return
    beside = given.use.parent if given.use else None
    with tempfile.TemporaryDirectory(dir=beside) as folder:
        job = given.use or Path(folder, "job")
        if not given.use:
            make_ranks(job, max(given.ranks), text)
        times = {}
        for count in sorted(given.ranks):
            scratch = Path(folder, f"{count}_ranks")
            scratch.mkdir()
            times[count] = compared(first_ranks(job, count, scratch / "job"), scratch, given.alone)
    if len(times) > 1:
        (few, least), (many, most) = min(times.items()), max(times.items())
        print(f"from {few} to {many} ranks time grows as n^{math.log(most / least) / math.log(many / few):.2f}")


if __name__ == "__main__":
    main()
