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

NUMBER = re.compile(r"\d+")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the next has the next")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--no-exceptions", action="store_true", help="without protected regions")
    parser.add_argument("--show", action="store_true", help="print each program and its source")
    parser.add_argument("--reasons", type=int, default=20, help="how many kinds of failure to print")
    return parser.parse_args()


def run_seed(seed: int, *, exceptions: bool, show: bool = False) -> Outcome:
    """Make the program of a seed and check it."""
    code = lower(generate(running(), seed, exceptions=exceptions))
    if show:
        dis.dis(code)
    outcome = check(code)
    if show:
        print(outcome.source)
        print(outcome.kind, outcome.level, outcome.reason)
    return outcome


def main() -> int:
    """Run programs and print what became of them."""
    options = arguments()
    faulthandler.enable()
    counts: Counter[str] = Counter()
    reasons: dict[str, list[int]] = {}
    for seed in range(options.seed, options.seed + options.programs):
        outcome = run_seed(seed, exceptions=not options.no_exceptions, show=options.show)
        counts[outcome.kind] += 1
        counts[str(outcome.level)] += 1
        if outcome.kind != "same" or outcome.level is Level.UNPROVEN:
            text = outcome.reason if outcome.kind != "different" else "different"
            reasons.setdefault(f"{outcome.kind}: {NUMBER.sub('#', text)}", []).append(seed)
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
