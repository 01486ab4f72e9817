"""How fast functions and modules are decompiled, beside other decompilers, in one run.

    python -m benchmarks.speed [--sample 3000] [--modules 100] [--limit 5]

On Python 3.11: the sample of the round trip, by depyf 0.20, by ours without a proof, and by ours with one, in turns of
100 functions in the same interpreter. What takes longer than the limit is stopped there, and counts as the limit: the
ratio of whole runs would be larger (`--limit 60` says how much). On 3.8: modules, by uncompyle6, by decompyle3, and by
ours in this Python. Times are the processor's, so that what else the machine does counts little.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.bar import Bar, report
from benchmarks.measured import Answer, Measured
from benchmarks.peers import PEERS, ROOT, Peer, find, missing

TURN = 100
"""How many functions a tool decompiles in a row: in a whole run nothing else is done between two of them."""
FASTER, SLOWEST, PROOF = 20.0, 0.050, 3.0
COMPILE = """
import os, py_compile, sys
sys.path.insert(0, sys.argv[1])
import library
root = library.stdlib_dir()
for number, path in enumerate(sorted(library.py_files(root))):
    target = os.path.join(sys.argv[2], "%05d.pyc" % number)
    try:
        py_compile.compile(path, target, doraise=True)
    except Exception:
        pass
"""


def functions(peer: Peer, python: str, sample: int, limit: float) -> list[Bar]:
    """Measure the sample of functions with a peer and with ours, in the peer's interpreter."""
    tools = (peer.adapter, "ours", "ours-verified")
    answers = in_turns([(python, tool) for tool in tools], sample, limit)
    theirs, ours, verified = (answers[python, tool] for tool in tools)
    print_rows([(peer.name, theirs), ("ours", ours), ("ours, proven", verified)])
    slow = quantile(ours, 0.99)
    ratio, proof = total(theirs) / total(ours), total(verified) / total(ours)
    late = [answer.seconds for answer in theirs if answer.status == "late"]
    print(f"{len(late)} functions of {peer.name} were stopped, after {sum(late):.1f} s; to their end they take longer")
    return [
        Bar(f"{peer.name}'s time per ours", f"{ratio:.1f}", ratio >= FASTER, note=f"{sample} functions"),
        Bar("the slowest of 100 functions (p99)", f"{slow * 1000:.1f} ms", slow < SLOWEST),
        Bar("time with proof per time without", f"{proof:.2f}", proof <= PROOF),
    ]


def in_turns(tools: Sequence[tuple[str, str]], sample: int, limit: float) -> dict[tuple[str, str], list[Answer]]:
    """Have the sample decompiled by each tool, some functions in a row and then the same ones by the next tool."""
    answers: dict[tuple[str, str], list[Answer]] = {tool: [] for tool in tools}
    with ExitStack() as stack:
        measured = {tool: stack.enter_context(Measured(*tool, limit=limit)) for tool in tools}
        for process in measured.values():
            process.sample(sample)
        for first in range(0, sample, TURN):
            for tool, process in measured.items():
                answers[tool] += process.ask_for(first, min(first + TURN, sample))
    return answers


def modules(python: str, count: int, limit: float) -> list[Bar]:
    """Measure modules of 3.8's standard library with the peers for 3.8, and with ours."""
    peers = [(peer, path) for peer in PEERS if peer.version == (3, 8) and (path := find(peer)) is not None]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        command = [peers[0][1], "-c", COMPILE, str(ROOT / "benchmarks" / "roundtrip"), folder]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        paths = random.Random(0).sample(sorted(map(str, Path(folder).iterdir())), count)
        measured = {peer.name: stack.enter_context(Measured(path, peer.adapter, limit=limit)) for peer, path in peers}
        measured["ours"] = stack.enter_context(Measured(python, "ours", limit=limit))
        answers_by_tool: dict[str, list[Answer]] = {name: [] for name in measured}
        for path in paths:
            for name, process in measured.items():
                answers_by_tool[name].append(process.ask({"pyc": path}))
    print_rows(list(answers_by_tool.items()))
    ours = total(answers_by_tool.pop("ours"))
    return [
        Bar(f"modules of 3.8: {name}'s time per ours", f"{total(answers) / ours:.1f}", True, note=f"{count} modules")
        for name, answers in answers_by_tool.items()
    ]


def total(answers: Sequence[Answer]) -> float:
    """Return the seconds of all answers together."""
    return sum(answer.seconds for answer in answers)


def quantile(answers: Sequence[Answer], share: float) -> float:
    """Return the seconds that this share of the answers took at most."""
    return sorted(answer.seconds for answer in answers)[min(len(answers) - 1, int(share * len(answers)))]


def print_rows(rows: Sequence[tuple[str, Sequence[Answer]]]) -> None:
    """Print what each tool took."""
    print(f"{'':14} {'done':>6} {'failed':>6} {'late':>5} {'total s':>8} {'p50 ms':>7} {'p99 ms':>7} {'max ms':>7}")
    for name, answers in rows:
        count: Callable[[str], int] = [answer.status for answer in answers].count
        times = " ".join(f"{quantile(answers, share) * 1000:7.1f}" for share in (0.5, 0.99, 1.0))
        failed = count("failed") + count("died")
        print(f"{name:14} {count('done'):6} {failed:6} {count('late'):5} {total(answers):8.2f} {times}", flush=True)


def measure(sample: int, count: int, limit: float) -> list[Bar]:
    """Measure beside every peer that is there."""
    bars: list[Bar] = []
    for peer in PEERS:
        if (python := find(peer)) is None:
            print(f"{peer.name}: {missing(peer)}")
        elif peer.adapter == "depyf_peer":  # The only one that decompiles a function alone.
            bars += functions(peer, python, sample, limit)
    if count and any(peer.version == (3, 8) and find(peer) for peer in PEERS):
        bars += modules(sys.executable, count, limit)
    return bars


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=3000, help="functions")
    parser.add_argument("--modules", type=int, default=100, help="modules of 3.8")
    parser.add_argument("--limit", type=float, default=5.0, help="seconds for one of them")
    given = parser.parse_args()
    report(measure(given.sample, given.modules, given.limit))
