"""Other decompilers and ours on the same modules of the library: a table for the docs.

    python -m benchmarks.side_by_side [--modules 60] [--limit 20] [--only NAME]

Each peer that `python -m benchmarks.peers` has installed decompiles a sample of modules of its Python's library, and
so does ours, in the same interpreter where depyf runs there (3.10 and newer). The round trip compiles each text and
compares the code objects. "same tree" means that the text has the syntax tree of the original source, without
positions. Seconds are wall time for all modules; a module that takes more than the limit counts with the limit.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure_roundtrip import OLDEST_HOST, ROUNDTRIP
from benchmarks.peers import PEERS, ROOT, Peer, find, missing

BY_FUNCTION = "depyf_peer"
"""The adapter of a peer that decompiles functions alone."""


@dataclass(frozen=True)
class Row:
    """The results of one tool on one sample."""

    tool: str
    python: str
    objects: int
    exact: int
    same_tree: int
    broken: int
    seconds: float

    def __str__(self) -> str:
        share = f"{100 * self.exact / max(1, self.objects):.0f}"
        return (
            f"| {self.tool} | {self.python} | {self.objects} | {self.exact} | {share} | {self.same_tree} "
            f"| {self.objects - self.exact - self.broken} | {self.broken} | {self.seconds:.1f} |"
        )


def results(python: str, adapter: str, mode: str, count: int, limit: float) -> list[dict[str, Any]]:
    """Return the results of the round trip for each object of the sample."""
    environment = os.environ | {"OURS_PATH": str(ROOT / "src"), "OURS_PYTHON": sys.executable}
    environment.pop("PYTHONPATH", None)
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "objects.jsonl"
        command = [python, str(ROUNDTRIP), "run", "--adapter", adapter, "--corpus", "stdlib", "--mode", mode]
        command += ["--sample", str(count), "--seed", "0", "--limit", str(limit), "--keep-source", "--out", str(out)]
        subprocess.run(command, env=environment, check=True, stdout=sys.stderr)
        return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def row(tool: str, peer: Peer, answers: list[dict[str, Any]], library: Path) -> Row:
    """Return the row of a tool; `library` is the folder of the sources."""
    states = Counter(str(answer["status"]) for answer in answers)
    exact, wrong = states["exact"], states["wrong"]
    seconds = sum(float(answer["t"] or 0) for answer in answers)
    trees = sum(_is_same_tree(answer, library) for answer in answers)
    broken = len(answers) - exact - wrong
    return Row(tool, "{}.{}".format(*peer.version), len(answers), exact, trees, broken, seconds)


def _is_same_tree(answer: dict[str, Any], library: Path) -> bool:
    """Return whether the text of a module has the tree of its source; False if this Python cannot parse it."""
    path = library / str(answer["id"])
    if answer["kind"] != "module" or "src" not in answer or not path.is_file():
        return False
    try:
        return ast.dump(ast.parse(path.read_bytes())) == ast.dump(ast.parse(answer["src"]))
    except (SyntaxError, ValueError, RecursionError):
        return False


def measure(count: int, limit: float, only: str) -> list[Row]:
    """Return two rows for each peer that is there: its own, and ours."""
    rows = []
    for peer in PEERS:
        python = find(peer)
        if only not in peer.name or python is None:
            print(f"{peer.name}: {missing(peer) if python is None else 'left out'}", file=sys.stderr)
            continue
        ours = "ours" if peer.version >= (3, OLDEST_HOST) else "ours_cross"
        mode = "function" if peer.adapter == BY_FUNCTION else "module"
        printed = "import sysconfig; print(sysconfig.get_path('stdlib'))"
        done = subprocess.run([python, "-c", printed], capture_output=True, text=True, check=True)
        library = Path(done.stdout.strip())
        for tool, adapter in ((peer.packages[0].replace("==", " "), peer.adapter), ("depyf, this one", ours)):
            rows.append(row(tool, peer, results(python, adapter, mode, count, limit), library))
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", type=int, default=60, help="modules, or functions for a peer of functions")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for one of them")
    parser.add_argument("--only", default="", help="peers whose name contains this")
    given = parser.parse_args()
    print("| tool | Python | objects | exact | exact % | same tree | other code | no code | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    measure(given.modules, given.limit, given.only)


if __name__ == "__main__":
    main()
