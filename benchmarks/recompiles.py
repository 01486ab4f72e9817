"""Recompiles cost in proportion to their number: dump, memory and added time of a function compiled anew often.

    python -m benchmarks.recompiles [--sizes 50,100,200,400,800] [--kinds ints,strings] [--rounds 1]

Each size runs in a process of its own, plain and inside of `prepare_debug`, once with other ints and once with other
strings. Printed are processor seconds, the bytes of the dump, and the memory that the calls added, with the exponent
between the first size and the last: 1 is linear. Of several rounds the medians count, and of ratios those of the pairs:
a quarter of plain is a cache that torch flushes, in the time that the machine gives it. Imports of depyf are a part of
the time; it is compiled to bytecode before, as it is where pip has installed it.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.bar import Bar, report

STEEPEST = 1.1
SLOWEST = 1.1
"""Of plain, where strings differ."""
LEAST = 1e-3
"""What a run that adds nothing is said to add: in seconds, and bytes."""
LARGEST = 10_000_000
"""Bytes of the dump of 500 strings."""


def one_run(size: int, kind: str, directory: str) -> dict[str, float]:
    """Compile a function `size` times, dumping to `directory` unless it is empty; return what it took."""
    import torch

    settings: dict[str, Any] = {"recompile_limit": 10_000, "accumulated_recompile_limit": 100_000}
    known = {name: value for name, value in settings.items() if hasattr(torch._dynamo.config, name)}
    compiled = torch.compile(lambda x, n: x + 1 if n == 0 else x * 2, backend="eager", dynamic=False)
    x = torch.ones(3)
    values: list[object] = [number if kind == "ints" else f"string {number}" for number in range(size)]
    context: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
    if directory:
        import depyf

        context = depyf.prepare_debug(directory)
    with torch._dynamo.config.patch(known):
        torch.compile(lambda x: x + 1, backend="eager")(x)
        memory, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        with context:
            for value in values:
                compiled(x, value)
    seconds = time.process_time() - began
    dumped = sum(path.stat().st_size for path in Path(directory).rglob("*") if path.is_file()) if directory else 0
    added = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    return {"seconds": seconds, "bytes": dumped, "memory": added * 1024}


def _in_a_process(size: int, kind: str, directory: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.recompiles", "--run", str(size), kind, directory]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def _pair(kind: str, size: int) -> dict[str, float]:
    """Run plain and in the context; print and return what that adds."""
    plain = _in_a_process(size, kind, "")
    with tempfile.TemporaryDirectory() as directory:
        dumped = _in_a_process(size, kind, directory)
    row = {
        "added seconds": dumped["seconds"] - plain["seconds"],
        "ratio": dumped["seconds"] / plain["seconds"],
        "dump": dumped["bytes"],
        "added memory": dumped["memory"] - plain["memory"],
    }
    print(
        f"{kind:8}{size:5}  plain {plain['seconds']:7.2f} s  with {dumped['seconds']:7.2f} s"
        f"  ratio {row['ratio']:.3f}  dump {row['dump'] / 1e6:6.2f} MB  memory +{row['added memory'] / 1e6:.0f} MB",
        flush=True,
    )
    return row


def measure(kind: str, sizes: list[int], rounds: int) -> list[Bar]:
    """Print a row for each pair of runs; return the bars of a kind of argument."""
    rows, ratios = [], [0.0]
    for size in sizes:
        pairs = [_pair(kind, size) for _ in range(rounds)]
        rows.append({what: statistics.median(pair[what] for pair in pairs) for what in pairs[0]})
        ratios = sorted(pair["ratio"] for pair in pairs)
    steps = math.log(sizes[-1] / sizes[0])
    bars = []
    for what in ("added seconds", "dump", "added memory") if steps else ():
        steep = math.log(max(rows[-1][what], LEAST) / max(rows[0][what], LEAST)) / steps
        bars.append(Bar(f"{kind}: growth of {what}, as exponent", f"{steep:.2f}", steep <= STEEPEST))
    if kind == "strings":
        ratio = rows[-1]["ratio"]
        note = f"{ratios[0]:.2f} to {ratios[-1]:.2f}, {rounds} pairs"
        bars.append(Bar("strings: ratio of times", f"{ratio:.3f}", ratio <= SLOWEST, note=note))
        dumped = rows[-1]["dump"]
        bars.append(Bar("strings: size of the dump", f"{dumped:,.0f} bytes", dumped < LARGEST))
    return bars


def main() -> None:
    """Measure and print the bars."""
    if sys.argv[1:2] == ["--run"]:
        print(json.dumps(one_run(int(sys.argv[2]), sys.argv[3], sys.argv[4])))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="50,100,200,400,800")
    parser.add_argument("--kinds", default="ints,strings")
    parser.add_argument("--rounds", type=int, default=1, help="pairs of runs of each size")
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    compileall.compile_dir(str(Path(__file__).parents[1] / "src" / "depyf"), quiet=1)
    report([bar for kind in given.kinds.split(",") for bar in measure(kind, sizes, given.rounds)])


if __name__ == "__main__":
    main()
