"""Scan many traces on an executor. A worker that dies and a file that disappears do not affect other files."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import field, replace

from depyf.bytecode.records import dataclass
from depyf.trace.job.files import Source, is_url, open_trace
from depyf.trace.job.scan import Fact, Rank, scan

MOST_BYTES = 32 << 20
MOST_FILES = 64
"""The most files in one task of a worker."""
LEAST_BYTES = 12 << 20
"""A smaller amount is read in this process, because starting another one takes longer."""
GROWING = "bytes that were written during the reading"


@dataclass(slots=True)
class Scanned:
    """The ranks of some files, and the facts of each group of them by their digest."""

    ranks: list[Rank] = field(default_factory=list)
    facts: dict[str, tuple[Fact, ...]] = field(default_factory=dict)

    def add(self, other: Scanned) -> None:
        """Add the results of another task."""
        self.ranks += other.ranks
        self.facts |= other.facts


def scan_batch(sources: Sequence[Source]) -> Scanned:
    """Return the facts of some files' ranks. An error of one file becomes part of its rank."""
    scanned = Scanned()
    for source in sources:
        try:
            with open_trace(source.path) as stream:
                rank, facts = scan(stream, source.path, source.rank)
            rank.omitted.update(_growth(source))
        except (OSError, ValueError, EOFError) as error:
            rank, facts = _failed(source, f"{type(error).__name__}: {error}"), ()
        scanned.ranks.append(rank)
        scanned.facts.setdefault(rank.facts, facts)
    return scanned


def _growth(source: Source) -> dict[str, int]:
    if is_url(source.path):
        return {}
    grown = os.path.getsize(source.path) - source.size
    return {GROWING: grown} if grown > 0 else {}


def _failed(source: Source, error: str) -> Rank:
    return Rank(source.path, source.rank, "", source.size, 0, {}, {}, (), "", 0.0, 0, error)


def scan_all(
    sources: Sequence[Source],
    executor: Executor | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Scanned:
    """Return the facts of all files' ranks, in the order of the files.

    Args:
        sources: the traces.
        executor: runs the tasks; None for processes of this machine. Only its `map` is used.
        progress: receives the number of bytes that are done, after each task.
    """
    total = sum(source.size for source in sources)
    if executor is None and (total < LEAST_BYTES or _workers() < 2):
        return _gathered(sources, _in_order(map(scan_batch, _batches(sources, MOST_BYTES)), progress))
    batches = list(_batches(sources, min(MOST_BYTES, max(1, total // (4 * _workers())))))
    if executor is not None:
        return _gathered(sources, _on(executor, batches, progress))
    with local_processes() as pool:
        return _gathered(sources, _on(pool, batches, progress))


def local_processes() -> ProcessPoolExecutor:
    """Return an executor with local processes, one for each core."""
    # A fork of a process with several threads may hold a lock that nothing releases.
    is_safe = threading.active_count() == 1 and "fork" in multiprocessing.get_all_start_methods()
    return ProcessPoolExecutor(_workers(), multiprocessing.get_context("fork" if is_safe else "spawn"))


def _workers() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _batches(sources: Sequence[Source], most: int) -> Iterator[list[Source]]:
    batch: list[Source] = []
    size = 0
    for source in sources:
        if batch and (size + source.size > most or len(batch) >= MOST_FILES):
            yield batch
            batch, size = [], 0
        batch.append(source)
        size += source.size
    if batch:
        yield batch


def _in_order(results: Iterator[Scanned], progress: Callable[[int], None]) -> Iterator[Scanned]:
    for scanned in results:
        progress(sum(rank.size for rank in scanned.ranks))
        yield scanned


def _on(executor: Executor, batches: list[list[Source]], progress: Callable[[int], None]) -> Iterator[Scanned]:
    """Yield the results of batches. Those lost with a worker are scanned again, in separate processes."""
    done = 0
    try:
        for scanned in _in_order(executor.map(scan_batch, batches), progress):
            yield scanned
            done += 1
    except Exception:  # noqa: BLE001 - executors say in exceptions of their own that a worker died
        yield from _in_order(map(_apart, batches[done:]), progress)


def _apart(batch: list[Source]) -> Scanned:
    """Scan files in a separate process; if it dies, scan each file in its own process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        try:
            return pool.submit(scan_batch, batch).result()
        except Exception as error:  # noqa: BLE001 - the process died, or what it gave cannot be sent
            if len(batch) == 1:
                return Scanned([_failed(batch[0], f"the process that was reading it died ({type(error).__name__})")])
    scanned = Scanned()
    for source in batch:
        scanned.add(_alone(source))
    return scanned


def _alone(source: Source) -> Scanned:
    return _apart([source])


def _gathered(sources: Sequence[Source], results: Iterator[Scanned]) -> Scanned:
    whole = Scanned()
    for scanned in results:
        whole.add(scanned)
    return replace(whole, ranks=whole.ranks[: len(sources)])
