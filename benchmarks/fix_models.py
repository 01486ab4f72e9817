"""How many architectures of `transformers` break graphs, and for how many `depyf fix` lowers that?

    python -m benchmarks.fix_models [--models TEXT] [--budget SECONDS] [--limit SECONDS]

Every architecture of the installed release with random weights, as small as its configuration allows, one forward
under the backend "eager", in a random order that is always the same, until the time is over. Those that break are
fixed with the package's files as the user's own (`--package transformers`). A process that has imported transformers
forks one child for each model.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import torch

from corpus.tiny_transformers import TooLargeError, architectures, build
from depyf.fix.processes import Nursery
from depyf.fix.search import Result, Search
from depyf.fix.tries import Program, Tries
from depyf.model.user_source import OWN_PACKAGES

MOST_TIMES = 10
"""A model may take so many times its seconds of the processor where others use the machine."""
ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """import sys

sys.path.insert(0, {root!r})
import torch

from corpus.tiny_transformers import build

model, arguments = build({name!r})
step = torch.compile(model, backend="eager")
with torch.no_grad():
    for _ in range(3):
        step(**arguments)
"""


def breaks_of(name: str) -> tuple[str, int, list[str]]:
    """Return how a forward of a model ended, the number of its graph breaks, and their reasons."""
    try:
        model, arguments = build(name)
        with torch.no_grad():
            model(**arguments)
    except TooLargeError:
        return "is too large", 0, []
    except Exception as error:  # noqa: BLE001 - the small configuration or the arguments do not fit the model
        return f"does not run as small: {type(error).__name__}", 0, []
    try:
        with torch.no_grad():
            torch.compile(model, backend="eager")(**arguments)
    except Exception as error:  # noqa: BLE001 - a model whose compile fails has no number of breaks
        return f"fails when compiled: {type(error).__name__}", 0, []
    reasons = torch._dynamo.utils.counters["graph_break"]
    return "runs", sum(reasons.values()), [str(reason).splitlines()[0] for reason in reasons]


def in_child(name: str, limit: int) -> tuple[str, int, list[str]]:
    """Return `breaks_of` a model from a forked child, which is ended after `limit` seconds of the processor."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        signal.alarm(MOST_TIMES * limit)
        os.write(writing, json.dumps(breaks_of(name)).encode()[:60_000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        text = answer.read()
    os.waitpid(pid, 0)
    how, count, reasons = json.loads(text) if text else ("does not end in time", 0, [])
    return how, count, reasons


def fixed(name: str, folder: Path, nursery: Nursery, limit: int) -> Result:
    """Fix the program of a model, with the files of transformers as the user's own."""
    model_folder = folder / name
    (model_folder / "kept").mkdir(parents=True)
    (model_folder / "run").mkdir()
    program = model_folder / "program.py"
    program.write_text(PROGRAM.format(root=str(ROOT), name=name), encoding="utf-8")
    task = Program(str(program), (), False, model_folder / "run", 3, False, 4.0 * limit, model_folder / "kept")
    tries = Tries(task, model_folder / "tries", nursery=nursery, only_forks=True)
    with contextlib.chdir(model_folder):
        result = Search(tries, 30, 20.0 * limit, "", lambda _: None).search()
    tries.forget()
    return result


def _told(name: str, result: Result) -> tuple[int, int]:
    before = result.plain.counts.breaks
    after = result.patched.counts.breaks if result.patched is not None else before
    words = result.same.words if result.same is not None else result.ended or "no edit helps"
    print(f"  fixed: {before} -> {after} breaks; {words}", flush=True)
    for edit in result.tried:
        print(f"    {edit.edit.place}  {edit.edit.what}: {edit.state}; {edit.words}"[:200], flush=True)
    return before, after


def main() -> int:
    """Print the numbers; the exit code is 1 if less than six of eight that break have fewer breaks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--models", default="", metavar="TEXT", help="only with one of these texts in their name, separated by commas"
    )
    parser.add_argument("--budget", type=float, default=1800.0, metavar="SECONDS", help="begin no model after this")
    parser.add_argument(
        "--limit", type=int, default=60, metavar="SECONDS", help="end a model that takes more of the processor"
    )
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    import transformers

    OWN_PACKAGES.add("transformers")
    names = [name for name in architectures() if any(text in name for text in options.models.split(","))]
    ended = time.monotonic() + options.budget
    ways: Counter[str] = Counter()
    breaking, lowered, gone = 0, 0, 0
    nursery = Nursery("transformers")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if time.monotonic() > ended:
                break
            how, count, reasons = in_child(name, options.limit)
            ways[how.partition(":")[0]] += 1
            print(f"{name}: {how}; {count} breaks {'; '.join(reasons)[:200]}", flush=True)
            if count:
                if not nursery.is_alive:
                    nursery = Nursery("transformers")
                before, after = _told(name, fixed(name, Path(folder), nursery, options.limit))
                breaking, lowered, gone = breaking + 1, lowered + (after < before), gone + (before > after == 0)
    nursery.end()
    print(f"architectures of transformers {transformers.__version__}: {len(names)}, looked at: {ways.total()}")
    print(f"how they ended: {', '.join(f'{count} {way}' for way, count in ways.most_common())}")
    print(f"architectures whose forward breaks: {breaking} of {ways['runs']}")
    print(f"of these with fewer breaks and equal results after depyf fix: {lowered} of {breaking}")
    print(f"of these without any break then: {gone} of {breaking}")
    return int(8 * lowered < 6 * breaking)


if __name__ == "__main__":
    sys.exit(main())
