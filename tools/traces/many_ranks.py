"""Times the report of many ranks beside tlparse's: `python -m tools.traces.many_ranks [RANKS] [TRACE] [--alone]`.

The ranks are copies of one trace with another process id and time; every hundredth lacks its last compile. Prints wall
time, the peak memory of a process, and the size of the output. `--alone` leaves tlparse out. `--megabytes N` makes each
rank N MB long: the compiles of the trace again and again, as other frames. `--ranks 1` is one long log.
"""

from __future__ import annotations

import gzip
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


def make_ranks(folder: Path, count: int, base: Path) -> int:
    """Write the traces of a job; return their size in bytes."""
    raw = base.read_bytes()
    text = gzip.decompress(raw) if base.suffix == ".gz" else raw
    starts = [found.start() for found in _LAST.finditer(text)]
    folder.mkdir(parents=True)
    total = 0
    for rank in range(count):
        own = text[: starts[-1]] if rank % 100 == 99 else text
        own = _HEAD.sub(rb"\g<1>%02d\g<2>%d" % (rank % 60, 1000 + rank), own)
        (folder / f"dedicated_log_torch_trace_rank_{rank}_x.log").write_bytes(own)
        total += len(own)
    return total


def timed(command: list[str], output: Path) -> tuple[float, float, int]:
    """Return the wall time of a command in seconds, the peak memory of one process in MB, and its output in bytes."""
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    spent = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return spent, peak, sum(each.stat().st_size for each in output.rglob("*") if each.is_file())


def main() -> None:
    """Make the ranks and time both."""
    arguments = [each for each in sys.argv[1:] if not each.startswith("--")]
    count = int(arguments[0]) if arguments else 100
    base = Path(arguments[1]) if len(arguments) > 1 else BASE
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder, "job")
        size = make_ranks(job, count, base)
        print(f"{count} ranks of {size / count / 1e6:.1f} MB")
        ours = Path(folder, "ours")
        runs = {"depyf": ([sys.executable, "-m", "depyf", "report", str(job), "-o", str(ours)], ours)}
        if "--alone" not in sys.argv:
            theirs = Path(folder, "theirs")
            command = ["tlparse", str(job), "-o", str(theirs), "--overwrite", "--no-browser", "--all-ranks-html"]
            runs["tlparse"] = (command, theirs)
        for name, (command, output) in runs.items():
            spent, peak, written = timed(command, output)
            print(f"{name}: {spent:.1f} s, {peak:.0f} MB at most so far, {written / 1e6:.1f} MB of output")


if __name__ == "__main__":
    main()
