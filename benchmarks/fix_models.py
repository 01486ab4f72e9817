"""How many architectures of `transformers` break graphs today?

    python -m benchmarks.fix_models [--models TEXT]

The small random models of `corpus/real_models.py`, one forward each under the backend "eager". `depyf fix` does not
edit libraries, so it would repair no break inside of them; the reason of each break is printed.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator
from typing import Any

import torch

from corpus.real_models import REAL_MODELS


def breaks_of(name: str) -> tuple[int, list[str]]:
    """Return the number of graph breaks in a forward of a model, and their reasons."""
    training = REAL_MODELS[name]
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    torch.manual_seed(0)
    model: Any = training.build().eval()
    with torch.no_grad():
        torch.compile(model, backend="eager")(**training.inputs())
    reasons = torch._dynamo.utils.counters["graph_break"]
    return sum(reasons.values()), [str(each).splitlines()[0] for each in reasons]


def _counted(chosen: list[str]) -> Iterator[int]:
    for name in chosen:
        count, reasons = breaks_of(name)
        print(f"{name}: {count} breaks {'; '.join(reasons)[:200]}", flush=True)
        yield count


def main() -> int:
    """Print the numbers; the exit code is 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="", metavar="TEXT", help="only models with TEXT in their name")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    chosen = [each for each in REAL_MODELS if options.models in each and not each.startswith("timm.")]
    counts = list(_counted(chosen))
    print(f"architectures whose forward breaks: {sum(map(bool, counts))} of {len(counts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
