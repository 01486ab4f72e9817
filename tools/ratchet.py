"""Count how far functions of the standard library are proven; the counts may only get better.

    python tools/ratchet.py            print the counts for this Python beside those that are committed
    python tools/ratchet.py --write    commit these counts to tests/decompiler/ratchet.json

A fixed random sample (seed 0) of the functions of this interpreter's own standard library is decompiled and verified.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "roundtrip"))

import corpus

from depyf.api import decompile_code
from depyf.errors import DecompilationError

SAMPLE = 400
FILE = pathlib.Path(__file__).resolve().parent.parent / "tests" / "decompiler" / "ratchet.json"


def version() -> str:
    """Return the interpreter's full version: another release has another standard library."""
    return ".".join(map(str, sys.version_info[:3]))


def counts() -> dict[str, int]:
    """Return how many of the sampled functions reach each level; FAILED counts those that give no source."""
    items = corpus.collect(corpus.stdlib_dir(), ("function",))
    found: collections.Counter[str] = collections.Counter()
    for _, _, code in random.Random(0).sample(items, SAMPLE):
        try:
            found[decompile_code(code).level.name] += 1
        except DecompilationError:
            found["FAILED"] += 1
    return dict(sorted(found.items()))


def committed() -> dict[str, dict[str, int]]:
    """Return the committed counts by version."""
    held: dict[str, dict[str, int]] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return held


def main() -> None:
    """Print, and on request write, the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="commit the counts")
    arguments = parser.parse_args()
    found, held = counts(), committed()
    print(f"{version()}: now {found}, committed {held.get(version())}")
    if arguments.write:
        held[version()] = found
        FILE.write_text(json.dumps(held, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
