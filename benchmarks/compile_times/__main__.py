"""Where compile time goes: attribution, injected delays, cost, and equal blocks.

python -m benchmarks.compile_times attribution [--models 18]   # cells against the time of the first call
python -m benchmarks.compile_times delays [--delays 60]        # is the slow line and stage the first cell?
python -m benchmarks.compile_times cost [--pairs 9]            # a compile that is measured against one that is not
python -m benchmarks.compile_times repetition                  # equal blocks, compared by a second method
"""

from __future__ import annotations

import argparse

from benchmarks.bar import report
from benchmarks.compile_times import attribution, cost, delays, repetition


def main() -> None:
    """Run one of the four measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("attribution", "delays", "cost", "repetition"))
    parser.add_argument("--models", type=int, default=18)
    parser.add_argument("--delays", type=int, default=60)
    parser.add_argument("--pairs", type=int, default=9)
    options = parser.parse_args()
    if options.what == "attribution":
        report(attribution.measure(options.models))
    elif options.what == "delays":
        report(delays.measure(options.delays))
    elif options.what == "cost":
        report(cost.measure(options.pairs))
    else:
        report(repetition.measure())


if __name__ == "__main__":
    main()
