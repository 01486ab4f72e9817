"""Compile each seed twice and say which causes of cache misses depyf names.

    python -m benchmarks.cache_misses

The kernels are written and looked up, but not compiled by a C++ compiler: the caches ask before that. A seed of an
environment variable runs its second compile in a process of its own. Prints a line for each seed that is named
wrongly, and the counts.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch._inductor.async_compile import AsyncCompile

from benchmarks.cache_misses.seeds import Seed, seeds
from depyf.report.caches.key import Record, read_record
from depyf.report.caches.nearest import nearest
from depyf.torch.capture.fresh import fresh_caches

LOOK = "fx_graph_cache_"


class _Heard(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.found: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what torch says of a look into a cache."""
        name = getattr(record, "metadata", {}).get("artifact", {}).get("name", "")
        if name.startswith(LOOK):
            self.found.append((name.removeprefix(LOOK), getattr(record, "payload", "") or ""))


@contextlib.contextmanager
def heard() -> Iterator[list[tuple[str, str]]]:
    """Give the looks into Inductor's cache that a block makes: outcome and record of each."""
    handler, logger = _Heard(), logging.getLogger("torch.__trace")
    logger.addHandler(handler)
    try:
        yield handler.found
    finally:
        logger.removeHandler(handler)


def looks(body: Callable[[], Any], settings: Callable[[], Any] = contextlib.nullcontext) -> list[tuple[str, str]]:
    """Return the looks into Inductor's cache of a program that nothing was compiled of."""
    torch._dynamo.reset()
    with settings(), heard() as found:
        body()
    return found


def verdict(seed: Seed, before: list[tuple[str, str]], after: list[tuple[str, str]]) -> str:
    """Return an empty text where depyf names the cause of a seed, else what it names."""
    earlier: list[tuple[str, Record]] = [("before", read_record(text)) for _, text in before]
    missed = next((read_record(text) for outcome, text in after if outcome == "miss"), None)
    if missed is None:
        return f"no miss: {[outcome for outcome, _ in after]}"
    found = nearest(missed, earlier)
    if found is None or found.cause is None:
        return "no cause"
    is_right = found.cause.kind == seed.kind and seed.word in found.cause.text
    return "" if is_right else f"{found.cause.text} (and {', '.join(found.cause.follows)})"


def in_process(name: str, variable: str, folder: str) -> list[tuple[str, str]]:
    """Return the looks of a seed's second compile in a process with an environment variable."""
    key, _, value = variable.partition("=")
    command = [sys.executable, "-m", "benchmarks.cache_misses", "--only", name, folder]
    environment = {**os.environ, key: value, "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [(outcome, text) for outcome, text in json.loads(done.stdout.splitlines()[-1])]


def without_compiler() -> None:
    """Have no kernel compiled: what comes before is what is measured."""
    AsyncCompile.cpp_pybinding = lambda *arguments, **options: lambda *inputs: None


def main() -> None:
    """Measure, and print what came of it."""
    without_compiler()
    every = seeds()
    if "--only" in sys.argv:
        seed = next(each for each in every if each.name == sys.argv[2])
        print(json.dumps(looks(seed.after)))
        return
    begin, right, hits, false = time.perf_counter(), 0, 0, 0
    for seed in every:
        with tempfile.TemporaryDirectory() as folder, fresh_caches(Path(folder)):
            before = looks(seed.before)
            again = looks(seed.before)
            hits += len(again)
            false += sum(outcome != "hit" for outcome, _ in again)
            named = seed.variable
            after = in_process(seed.name, named, folder) if named else looks(seed.after, seed.settings)
            wrong = verdict(seed, before, after)
        right += not wrong
        if wrong:
            print(f"{seed.name}: expected {seed.kind} ({seed.word}), depyf says: {wrong}")
    print(f"torch {torch.__version__}: {right} of {len(every)} causes named; {false} of {hits} hits taken for a miss")
    print(f"{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
