"""Run random programs in bytecode beside what the decompiler makes of them.

    python -m tools.fuzz --seed 0 --programs 10000                 # on the running interpreter
    python -m tools.fuzz --seed 1234 --programs 1 --show           # one program: its code and the source

Each program is made from its own seed, and runs on 5 inputs. Prints how many were the same, different or failed, how
many were proven, and the seeds of all others.
"""

from __future__ import annotations

import argparse
import dis
import faulthandler
import re
import sys
from collections import Counter

from depyf.verify.level import Level
from tools.fuzz.check import Outcome, check
from tools.fuzz.generate import generate
from tools.fuzz.lower import lower, running
from tools.fuzz.program import Program
from tools.fuzz.shrink import shrink

NUMBER = re.compile(r"\d+")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the next has the next")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--no-exceptions", action="store_true", help="without protected regions")
    parser.add_argument("--show", action="store_true", help="print each program and its source")
    parser.add_argument("--shrink", action="store_true", help="print each that is not the same or not proven, smaller")
    parser.add_argument("--without", default="", metavar="PASS,...", help="passes to leave out: build, dispatch")
    parser.add_argument("--reasons", type=int, default=20, help="how many kinds of failure to print")
    return parser.parse_args()


def show(program: Program, without: frozenset[str]) -> None:
    """Print a program, its code, and what became of it."""
    code = lower(program)
    outcome = check(code, without)
    print(program)
    dis.dis(code)
    print(outcome.source)
    print(outcome.kind, outcome.level, outcome.reason)


def shrunk(program: Program, outcome: Outcome, without: frozenset[str]) -> Program:
    """Return a smaller program of which the same becomes."""

    def is_wrong(candidate: Program) -> bool:
        found = check(lower(candidate), without)
        return (found.kind, found.level, sort_of(found)) == (outcome.kind, outcome.level, sort_of(outcome))

    return shrink(program, is_wrong)


def sort_of(outcome: Outcome) -> str:
    """Return the reason without what differs from one program to the next."""
    return "" if outcome.kind == "different" else NUMBER.sub("#", outcome.reason).partition(" (")[0]


def main() -> int:
    """Run programs and print what became of them."""
    options = arguments()
    faulthandler.enable()
    without = frozenset(filter(None, options.without.split(",")))
    counts: Counter[str] = Counter()
    reasons: dict[str, list[int]] = {}
    for seed in range(options.seed, options.seed + options.programs):
        program = generate(running(), seed, exceptions=not options.no_exceptions)
        outcome = check(lower(program), without)
        counts[outcome.kind] += 1
        counts[str(outcome.level)] += 1
        if outcome.kind != "same" or outcome.level is Level.UNPROVEN:
            reasons.setdefault(f"{outcome.kind}: {sort_of(outcome)}", []).append(seed)
            if options.shrink:
                program = shrunk(program, outcome, without)
                show(program, without)
                continue
        if options.show:
            show(program, without)
    version = "{}.{}".format(*running())
    ways = " ".join(
        f"{kind} {counts[kind]}" for kind in ("same", "different", "failed", "EXACT", "EQUIVALENT", "UNPROVEN")
    )
    print(f"{version}: {options.programs} programs from seed {options.seed}: {ways}")
    for reason, seeds in sorted(reasons.items(), key=lambda item: -len(item[1]))[: options.reasons]:
        print(f"  {len(seeds):4} {reason}: seeds {' '.join(map(str, seeds[:5]))}")
    return 1 if counts["different"] or counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
