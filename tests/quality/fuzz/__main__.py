"""Run random programs in bytecode beside what the decompiler makes of them.

    python -m tests.quality.fuzz --seed 0 --programs 10000                 # on the running interpreter
    python -m tests.quality.fuzz --seed 1234 --programs 1 --show           # one program: its code and the source

Each program is made from its own seed, and runs on 5 inputs. Prints how many were the same, different or failed, how
many were proven, in how many depyf warned of a fault of its own, and the seeds of all others. Programs run in processes
of their own: one that the interpreter itself does not survive is invalid, and counted apart; one that only what became
of it does not survive is different.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.quality.fuzz.batches import Batch, Found, run_all
from tests.quality.fuzz.generate import PLAIN, PROFILES
from tests.quality.fuzz.lower import running

KINDS = ("same", "different", "failed", "invalid")
LEVELS = ("EXACT", "EQUIVALENT", "UNPROVEN")
SEEDS_SHOWN = 5


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the next has the next")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--profile", choices=PROFILES, default=PLAIN, help="what programs are made of")
    parser.add_argument("--show", action="store_true", help="print each program and its source")
    parser.add_argument("--shrink", action="store_true", help="print each that is not the same or not proven, smaller")
    parser.add_argument("--without", default="", metavar="PASS,...", help="passes to leave out: build, dispatch")
    parser.add_argument("--reasons", type=int, default=20, help="how many kinds of failure to print")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes to use")
    return parser.parse_args()


def main() -> int:
    """Run programs and print what became of them."""
    options = arguments()
    without = frozenset(filter(None, options.without.split(",")))
    seeds = tuple(range(options.seed, options.seed + options.programs))
    batch = Batch(seeds, options.profile, without, options.show, options.shrink)
    counts: Counter[str] = Counter()
    wrong: list[Found] = []
    for result in run_all(batch, options.jobs):
        counts[result.kind] += 1
        counts[result.level.name if result.kind != "invalid" else ""] += 1
        if result.text:
            print(result.text, flush=True)
        if not result.is_good:
            wrong.append(result)
    version = "{}.{}".format(*running())
    counts["faults"] = sum(bool(result.faults) for result in wrong)
    ways = " ".join(f"{kind} {counts[kind]}" for kind in (*KINDS, *LEVELS, "faults"))
    print(f"{version}: {options.programs} {options.profile} programs from seed {options.seed}: {ways}")
    print_reasons(wrong, options.reasons)
    return 1 if counts["different"] or counts["failed"] or counts["invalid"] or counts["faults"] else 0


def print_reasons(wrong: list[Found], most: int) -> None:
    """Print why programs are not the same, or not proven, the usual reasons first."""
    reasons: dict[str, list[int]] = {}
    for result in sorted(wrong, key=lambda result: result.seed):
        kind = result.kind if result.kind != "same" else "fault" if result.faults else "not proven"
        reasons.setdefault(f"{kind}: {result.reason}", []).append(result.seed)
    for reason, seeds in sorted(reasons.items(), key=lambda item: -len(item[1]))[:most]:
        print(f"  {len(seeds):4} {reason}: seeds {' '.join(map(str, seeds[:SEEDS_SHOWN]))}")


if __name__ == "__main__":
    sys.exit(main())
