"""Compile each seed twice and say which causes of cache misses depyf names.

    python -m benchmarks.cache_misses [fx_graph] [cpp] [triton] [autotune]

Kernels are compiled only where the cache of kernels is what misses; none of Triton's runs, so that no GPU is needed. A
seed of an environment variable runs its second compile in a process of its own. Prints a line for each seed that is
named wrongly, and the counts.
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
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch._inductor.async_compile import AsyncCompile

from corpus.cache_misses.kernel_seeds import kernel_seeds
from corpus.cache_misses.seeds import Seed, seeds
from depyf.findings.cache_misses.key import Record, read_record
from depyf.findings.cache_misses.nearest import nearest
from depyf.torch.adapters.kernel_caches.look import KernelLook
from depyf.torch.adapters.kernel_caches.watch import KernelCaches
from depyf.torch.capture.fresh import forget, fresh_caches
from depyf.torch.capture.own_records import record_of

GRAPHS = "fx_graph"


class _Heard(logging.Handler):
    """Keeps what is said of looks into one cache: outcome and record of each."""

    def __init__(self, cache: str) -> None:
        super().__init__(logging.DEBUG)
        self.begins = f"{cache}_cache_"
        self.found: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what torch says of a look into a cache."""
        self.keep(getattr(record, "metadata", {}), getattr(record, "payload", None))

    def on_look(self, look: Callable[[], KernelLook]) -> None:
        """Keep what depyf says of a look into a cache of kernels."""
        self.keep(*record_of(look()))

    def keep(self, metadata: Mapping[str, Any], payload: str | None) -> None:
        """Keep a record, where it is of the cache."""
        name = metadata.get("artifact", {}).get("name", "")
        if name.startswith(self.begins):
            self.found.append((name.removeprefix(self.begins), payload or ""))


def looks(
    seed: Seed, body: Callable[[], Any], settings: Callable[[], Any] = contextlib.nullcontext
) -> list[tuple[str, str]]:
    """Return the looks into a seed's cache of a program that nothing was compiled of."""
    forget()
    heard, logger = _Heard(seed.cache), logging.getLogger("torch.__trace")
    with contextlib.ExitStack() as undo:
        if seed.cache == GRAPHS:
            undo.enter_context(mock.patch.object(AsyncCompile, "cpp_pybinding", lambda *_, **__: lambda *inputs: None))
        logger.addHandler(heard)
        undo.callback(logger.removeHandler, heard)
        kernels = KernelCaches(heard.on_look)
        kernels.look_for_modules()
        undo.callback(kernels.end)
        undo.enter_context(settings())
        body()
    return heard.found


def verdict(seed: Seed, before: list[tuple[str, str]], after: list[tuple[str, str]]) -> str:
    """Return an empty text where depyf names the cause of a seed, else what it names."""
    earlier: list[tuple[str, Record]] = [("before", read_record(text)) for _, text in before]
    missed = next((read_record(text) for outcome, text in after if outcome == "miss"), None)
    if missed is None:
        return f"no miss: {[outcome for outcome, _ in after]}"
    closest = nearest(missed, earlier)
    if closest is None or closest.cause is None:
        return "no cause"
    is_right = closest.cause.kind == seed.kind and seed.word in closest.cause.text
    return "" if is_right else f"{closest.cause.text} (and {', '.join(closest.cause.follows)})"


def in_process(name: str, variable: str, folder: str) -> list[tuple[str, str]]:
    """Return the looks of a seed's second compile in a process with an environment variable."""
    key, _, value = variable.partition("=")
    command = [sys.executable, "-m", "benchmarks.cache_misses", "--only", name, folder]
    environment = {**os.environ, key: value, "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [(outcome, text) for outcome, text in json.loads(done.stdout.splitlines()[-1])]


def main() -> None:
    """Measure, and print what came of it."""
    every = [*seeds(), *kernel_seeds()]
    if "--only" in sys.argv:
        seed = next(seed for seed in every if seed.name == sys.argv[2])
        print(json.dumps(looks(seed, seed.after)))
        return
    begin, right, hits, false = time.perf_counter(), 0, 0, 0
    wanted = [seed for seed in every if not sys.argv[1:] or seed.cache in sys.argv[1:]]
    for seed in wanted:
        with tempfile.TemporaryDirectory() as folder, fresh_caches(Path(folder)):
            before = looks(seed, seed.before)
            again = looks(seed, seed.before)
            hits += len(again)
            assert again, seed.name
            false += sum(outcome != "hit" for outcome, _ in again)
            named = seed.variable
            after = in_process(seed.name, named, folder) if named else looks(seed, seed.after, seed.settings)
            wrong = verdict(seed, before, after)
        right += not wrong
        if wrong:
            print(f"{seed.name}: expected {seed.kind} ({seed.word}), depyf says: {wrong}")
    if not any(seed.cache == "triton" for seed in wanted):
        print("Triton is not installed: its caches are not measured")
    print(f"torch {torch.__version__}: {right} of {len(wanted)} causes named; {false} of {hits} hits taken for a miss")
    print(f"{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
