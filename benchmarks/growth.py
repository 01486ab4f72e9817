"""How the time to decompile grows with the size of a program, by family of programs.

    python -m benchmarks.growth [--sizes 160,640,2560] [--family NAME ...] [--tool ours|ours-verified] [--peers]

For each family (`benchmarks/families.py`, with those of `benchmarks/roundtrip`) the time of the processor at each size,
and the exponent between the last two: 1 is linear. Times that grew too fast are taken again, and the least of them
counts: what else the machine does makes a time longer, never shorter. A family that Python itself cannot compile beyond
some size ends there. With `--peers` the families of the round trip are measured with depyf 0.20 too, at small sizes.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.bar import Bar, none_of, report
from benchmarks.families import FAMILIES
from benchmarks.interpreters import find as find_python
from benchmarks.measured import Answer, Measured
from benchmarks.peers import PEERS, find, missing

STEEPEST = 1.2
SHORTEST = 0.05
"""Seconds below which a time says nothing about growth."""
TOOLS = {"ours": "decompiling", "ours-verified": "decompiling with proof"}
AGAIN = 3
"""How often times are taken again."""
SMALL = (10, 40, 160)


def measure(python: str, tool: str, names: Sequence[str], sizes: Sequence[int], limit: float) -> dict[str, list[str]]:
    """Print a row for each family; return what is wrong with it."""
    faults_by_family: dict[str, list[str]] = {}
    with Measured(python, tool, limit=limit) as measured:
        for name in names:
            cells: list[str] = []
            faults_by_family[name] = []
            before: tuple[int, float] | None = None
            for size in sorted({min(size, FAMILIES[name].largest) for size in sizes}):
                answer = measured.ask({"family": name, "n": size})
                if answer.status == "no program":
                    cells.append(f"{size}: -")
                    break
                before, answer = taken_again(measured, name, before, size, answer)
                steep = exponent(before, size, answer.seconds)
                cells.append(f"{size}: {answer.seconds:.3f} s" + (f" ^{steep:.2f}" if before else ""))
                faults_by_family[name] += faults(f"{name} at {size}", answer, steep)
                before = (size, answer.seconds)
                if answer.status != "done":
                    break
            print(f"{name:20} {'  '.join(cells)}{'   <<' if faults_by_family[name] else ''}", flush=True)
    return faults_by_family


def taken_again(
    measured: Measured, name: str, before: tuple[int, float] | None, size: int, answer: Answer
) -> tuple[tuple[int, float] | None, Answer]:
    """Return the least times of two sizes, taken again as long as they grow too fast and few have been taken."""
    for _ in range(AGAIN):
        if before is None or not faults(name, answer, exponent(before, size, answer.seconds)):
            break
        if answer.status != "done" or answer.level == "UNPROVEN":
            break
        first = measured.ask({"family": name, "n": before[0]})
        then = measured.ask({"family": name, "n": size})
        before = (before[0], min(before[1], first.seconds))
        answer = replace(answer, seconds=min(answer.seconds, then.seconds))
    return before, answer


def exponent(before: tuple[int, float] | None, size: int, seconds: float) -> float:
    """Return how time grows from one size to the next."""
    if before is None or before[1] <= 0 or seconds <= 0:
        return 0.0
    return math.log(seconds / before[1]) / math.log(size / before[0])


def faults(place: str, answer: Answer, steep: float) -> list[str]:
    """Return what is wrong at one size."""
    if answer.status != "done":
        return [f"{place}: {answer.status} {answer.why}"]
    if answer.level == "UNPROVEN":
        return [f"{place}: {answer.level} {answer.why}"]
    return [f"{place}: grows as n^{steep:.2f}"] if steep > STEEPEST and answer.seconds > SHORTEST else []


def bars(
    python: str, names: Sequence[str], sizes: Sequence[int], limit: float, peers: bool, tools: Sequence[str] = (*TOOLS,)
) -> list[Bar]:
    """Measure ours without and with proof; on request depyf 0.20 too."""
    all_bars = []
    for tool in tools:
        what = TOOLS[tool]
        print(f"-- {what}, sizes {', '.join(map(str, sizes))}")
        problems = [line for lines in measure(python, tool, names, sizes, limit).values() for line in lines]
        title = f"{what}: families that fail, are unproven, or grow too fast"
        all_bars.append(none_of(title, problems, f"{len(names)}", f"faster than n^{STEEPEST}"))
    peer = PEERS[0]
    peer_python = find(peer)
    if peers and peer_python is None:
        print(f"{peer.name}: {missing(peer)}")
    elif peers and peer_python is not None:
        both = [name for name in names if FAMILIES[name].is_shared]
        for tool, where in ((peer.adapter, peer_python), ("ours", peer_python)):
            print(f"-- {tool}, sizes {', '.join(map(str, SMALL))}")
            measure(where, tool, both, SMALL, limit)
    return all_bars


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="160,640,2560", help="what n is, in turn")
    parser.add_argument("--family", action="append", default=[], choices=[*FAMILIES], metavar="NAME")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one program")
    parser.add_argument("--python", default=find_python((3, 11)) or sys.executable, help="the interpreter")
    parser.add_argument("--tool", action="append", default=[], choices=[*TOOLS], help="one of the two alone")
    parser.add_argument("--peers", action="store_true", help="depyf 0.20 too")
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    families, tools = given.family or [*FAMILIES], given.tool or [*TOOLS]
    report(bars(given.python, families, sizes, given.limit, given.peers, tools))
