"""Times the report of traces beside tlparse's: `python -m benchmarks.traces.speed [--rounds N] TRACE...`.

Each TRACE, a file or a folder of ranks, is read by both in turns, everything included: the start of the program, the
reading, and all output. Prints the medians of the wall times with their ratio, and the bytes read and written.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "tests" / "trace" / "data"


@dataclass(frozen=True)
class Row:
    """One trace: its bytes, and for each tool the seconds and the bytes written."""

    name: str
    size: int
    ours: float
    theirs: float
    written: int
    written_by_tlparse: int


def traces(paths: list[str]) -> Iterator[Path]:
    """Yield the traces that paths name: a folder of ranks is one, a folder of other logs is each of them."""
    for path in map(Path, paths):
        inside = sorted(path.iterdir()) if path.is_dir() else []
        if not inside or any(file.is_file() and "rank_" in file.name for file in inside):
            yield path
        else:
            yield from traces([str(file) for file in inside if file.is_dir() or file.name.endswith(("log", "log.txt"))])


def measured(trace: Path, rounds: int) -> Row:
    """Run both on one trace, in turns."""
    size = sum(file.stat().st_size for file in ([trace] if trace.is_file() else trace.iterdir()))
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    written: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for tool in times:
                output = Path(folder, f"{tool}{number}")
                began = time.perf_counter()
                subprocess.run(_command(tool, trace, output), check=True, capture_output=True)
                times[tool].append(time.perf_counter() - began)
                written[tool] = sum(file.stat().st_size for file in output.rglob("*") if file.is_file())
    ours, theirs = (statistics.median(times[tool]) for tool in ("ours", "theirs"))
    return Row(trace.name, size, ours, theirs, written["ours"], written["theirs"])


def _command(tool: str, trace: Path, output: Path) -> list[str]:
    if tool == "ours":
        return [sys.executable, "-m", "depyf", "report", str(trace), "-o", str(output)]
    several = ["--all-ranks-html"] if trace.is_dir() else []
    return ["tlparse", str(trace), "-o", str(output), "--overwrite", "--no-browser", *several]


def main() -> None:
    """Time all traces, and print a row for each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("paths", nargs="+")
    given = parser.parse_args()
    slow, large = 0, 0
    print(f"{'trace':44} {'MB':>7} {'depyf s':>8} {'tlparse s':>9} {'ratio':>6} {'out MB':>7} {'tlparse':>8}")
    for trace in traces(given.paths):
        row = measured(trace, given.rounds)
        slow += row.ours > row.theirs / 2
        large += row.written > row.size
        megabytes = [count / 1e6 for count in (row.size, row.written, row.written_by_tlparse)]
        print(
            f"{row.name[:44]:44} {megabytes[0]:7.3f} {row.ours:8.3f} {row.theirs:9.3f} {row.ours / row.theirs:6.2f} "
            f"{megabytes[1]:7.3f} {megabytes[2]:8.3f}",
            flush=True,
        )
    print(f"over half of tlparse's time: {slow}; more output than input: {large}")


if __name__ == "__main__":
    main()
