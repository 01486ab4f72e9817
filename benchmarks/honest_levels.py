"""Hold our levels against another judge: `python benchmarks/honest_levels.py [--sample 3000] [--seed 0]`.

The functions of this interpreter's standard library, or of `--corpus`, are decompiled and proven; then
`benchmarks/roundtrip`, which shares no code with the verifier, compares the same texts. Printed is the table of both
verdicts, with the reasons of what is not EXACT, a count for each. Exit code 1 when roundtrip calls wrong what is EXACT.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import types
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "roundtrip"))

import library
import normal
import rebuild

from depyf.api import decompile_code
from depyf.errors import DecompilationError

RULES = (
    (
        r"^(LOAD_ATTR != LOAD_METHOD|LOAD_METHOD != LOAD_ATTR|NULL != LOAD_\w+)$",
        "a variable is named as something that the module imports: then the compiler calls no methods of it",
    ),
    (r"^(MARK != |\w+ != MARK)", "a `try` is opened or closed at another place"),
)
"""What is behind a difference, by what the verifier says of it."""

DISPATCH = re.compile(r"^ +(el)?if state(_\d+)? [<=]", re.MULTILINE)

VERDICTS = ("exact", "wrong", "no code")
LEVELS = ("EXACT", "EQUIVALENT", "UNPROVEN", "FAILED")
LAMBDA = "<lambda>"


def judged(code: types.CodeType) -> tuple[str, str, str]:
    """Return our level of a function, roundtrip's verdict, and what is behind one that is not EXACT."""
    try:
        decompiled = decompile_code(code)
    except DecompilationError as error:
        return "FAILED", "no code", rule(error.reason, "")
    try:
        again = rebuild.rebuild(decompiled.source, code)
    except (rebuild.NoParse, rebuild.NoCompile):
        return decompiled.level.name, "no code", rule(decompiled.reason, decompiled.source)
    verdict = "exact" if normal.same_code(code, again).exact else "wrong"
    return decompiled.level.name, verdict, rule(decompiled.reason, decompiled.source)


def rule(reason: str, source: str) -> str:
    """Return what is behind a reason; where that is not known, the reason without a function's name and operands."""
    if DISPATCH.search(source):
        return "written as a dispatcher of blocks"
    text = re.sub(r"^[^:]*: ", "", reason)
    text = re.sub(r" \(original offset.*", "", text)
    text = re.sub(r"\(\(?'.*?\)+,?\)?", "(..)", text)
    text = re.sub(r"'[^']*'|\b\d+\b", "..", text)[:90]
    return next((meaning for pattern, meaning in RULES if re.search(pattern, text)), text)


def report(sample: list[tuple[str, types.CodeType]]) -> int:
    """Print the table and the reasons; return how many EXACT texts roundtrip calls wrong."""
    table: Counter[tuple[str, str]] = Counter()
    reasons: Counter[tuple[str, str, str]] = Counter()
    dishonest = []
    for name, code in sample:
        level, verdict, reason = judged(code)
        table[level, verdict] += 1
        if level != "EXACT":
            reasons[level, verdict, reason] += 1
        elif verdict != "exact":
            dishonest.append(f"{name}: {verdict}")
    print("| our level | " + " | ".join(f"roundtrip: {verdict}" for verdict in VERDICTS) + " |")
    print("|---" * (len(VERDICTS) + 1) + "|")
    for level in LEVELS:
        print(f"| {level} | " + " | ".join(str(table[level, verdict]) for verdict in VERDICTS) + " |")
    for (level, verdict, text), count in reasons.most_common():
        print(f"{count:6}  {level}, {verdict}: {text}")
    for line in dishonest:
        print(f"EXACT by us, yet {line}")
    return len(dishonest)


def main() -> int:
    """Judge a sample."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=3000, help="functions; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--corpus", default="", help="a directory; by default the standard library")
    arguments = parser.parse_args()
    items = library.collect(arguments.corpus or library.stdlib_dir())
    if arguments.sample and arguments.sample < len(items):
        items = random.Random(arguments.seed).sample(items, arguments.sample)
    print(f"Python {sys.version.split()[0]}, {len(items)} functions, seed {arguments.seed}\n")
    return 1 if report([(name, code) for name, _, code in items]) else 0


if __name__ == "__main__":
    sys.exit(main())
