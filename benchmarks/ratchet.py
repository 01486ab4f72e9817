"""Count how far functions of the standard libraries are proven, per Python; the counts may only get better.

    python -m benchmarks.ratchet [--python 3.11 ...]           print the counts beside those that are committed
    python -m benchmarks.ratchet --write [--python 3.11 ...]   commit these counts to tests/decompiler/ratchet.json

For each Python at hand a fixed random sample of the functions of its own standard library is decompiled and proven: in
that Python where depyf runs on it, else from a `.pyc` that it makes of each.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.interpreters import VERSIONS, find, label
from depyf.api import decompile_module_pyc
from depyf.errors import DecompilationError

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES, SAMPLE = 60, 120
"""Files that functions are drawn from, and how many functions, of each Python."""
FILE = ROOT / "tests" / "decompiler" / "ratchet.json"
FAILED = "FAILED"
"""The level of what gives no source."""
DRAW = """
import collections, importlib.util, json, marshal, os, random, sys
here, folder, files, sample = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
sys.path[:0] = [os.path.join(here, "src"), os.path.join(here, "benchmarks", "roundtrip")]
import library as corpus, rebuild

def draw():
    root, chosen = corpus.stdlib_dir(), random.Random(0)
    paths = [path for path in corpus.py_files(root) if os.path.exists(path) and os.path.getsize(path) < 100000]
    found = []
    for path in sorted(chosen.sample(paths, files)):
        module = corpus.compile_file(path)
        if module is not None:
            found += [code for _, kind, code in corpus.walk(module) if kind in ("function", "lambda")]
    return chosen.sample(found, min(len(found), sample))

def level(code):
    from depyf.api import decompile_code
    from depyf.errors import DecompilationError
    try:
        return decompile_code(code).level.name
    except DecompilationError:
        return "FAILED"

def write(number, code):
    with open(os.path.join(folder, "%04d.pyc" % number), "wb") as file:
        file.write(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(rebuild.as_module(code)))

levels = {}
if sys.version_info >= (3, 10):
    levels = collections.Counter(level(code) for code in draw())
else:
    for number, code in enumerate(draw()):
        write(number, code)
print(json.dumps([".".join(map(str, sys.version_info[:3])), levels]))
"""
"""What the interpreter itself runs: it proves what it can host depyf for, else it writes modules."""


@dataclass(frozen=True)
class Counts:
    """How many functions of one Python's sample reach each level; `release` is that Python in full."""

    release: str
    levels: Mapping[str, int]

    def share(self, level: str) -> float:
        """Return the part of the sample that has a level."""
        return self.levels.get(level, 0) / max(1, sum(self.levels.values()))


def count(python: str) -> Counts:
    """Return the counts of an interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        command = [python, "-W", "ignore", "-c", DRAW, str(ROOT), folder, str(FILES), str(SAMPLE)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        release, levels = json.loads(done.stdout)
        counts = collections.Counter(levels)
        counts.update(_level(path) for path in sorted(pathlib.Path(folder).iterdir()))
    return Counts(release, dict(sorted(counts.items())))


def _level(path: pathlib.Path) -> str:
    try:
        return decompile_module_pyc(path).level.name
    except DecompilationError:
        return FAILED


def worse(now: Mapping[str, int], before: Mapping[str, int]) -> list[str]:
    """Return in words what is worse than it was: fewer exact, or more not proven or failed."""
    regressions = []
    if now.get("EXACT", 0) < before.get("EXACT", 0):
        regressions.append(f"exact: {now.get('EXACT', 0)}, were {before.get('EXACT', 0)}")
    for levels in ((FAILED,), (FAILED, "UNPROVEN")):
        new, old = (sum(counts.get(level, 0) for level in levels) for counts in (now, before))
        if new > old:
            regressions.append(f"{' or '.join(levels).lower()}: {new}, were {old}")
    return regressions


def committed() -> dict[str, dict[str, int]]:
    """Return the committed counts by release of Python."""
    held: dict[str, dict[str, int]] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return held


def main() -> None:
    """Print, and on request write, the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="commit the counts")
    parser.add_argument("--python", action="append", default=[], help="only this version, e.g. 3.11; may be repeated")
    arguments = parser.parse_args()
    for version in VERSIONS:
        if arguments.python and label(version) not in arguments.python:
            continue
        python = find(version)
        if python is None:
            print(f"{label(version)}: no such Python on this machine")
            continue
        counts, held = count(python), committed()
        before = held.get(counts.release, {})
        print(f"{counts.release}: now {counts.levels}, committed {before} {'; '.join(worse(counts.levels, before))}")
        if arguments.write:
            held[counts.release] = dict(counts.levels)
            FILE.write_text(json.dumps(held, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
