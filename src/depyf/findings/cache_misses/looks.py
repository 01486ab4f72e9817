"""Each lookup of a run in torch's caches, and the reason for each miss."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from depyf.bytecode.records import dataclass
from depyf.findings.cache_misses.key import BYPASS, GRAPHS, HIT, MISS, PGO, Record, cache_name, read_record
from depyf.findings.cache_misses.lines import Cause
from depyf.findings.cache_misses.nearest import Nearest, nearest
from depyf.model.index_reader import Run
from depyf.model.run import CacheEvent, Compile, Function

NO_SIZES = "no earlier run of this job (`TORCH_COMPILE_JOB_ID`) left its sizes here: each that varies is compiled twice"

MOST_HELD = 64
"""The number of a function's newest entries that a lookup is compared with. A long run has thousands of lookups."""


@dataclass(frozen=True, slots=True)
class Look:
    """One lookup in a cache: its compile, its outcome, and the reason in words if it found nothing.

    why: "" for a hit.
    cause: the difference from the key of the `nearest` earlier entry, if known.
    seconds: the time that a hit saved, or the compile time of a miss.
    """

    function: Function
    compile: Compile
    event: CacheEvent
    why: str
    seconds: float
    cause: Cause | None = None
    nearest: str = ""

    @property
    def cache(self) -> str:
        """Return a readable name of the cache."""
        return cache_name(self.event)


@dataclass(slots=True)
class _Known:
    """The newest records for comparison with later lookups, by cache and function."""

    entries: dict[tuple[str, str], deque[tuple[str, Record]]]

    def of(self, cache: str, function: str) -> deque[tuple[str, Record]]:
        """Return the entries of a function in a cache, in order."""
        return self.entries.setdefault((cache, function), deque(maxlen=MOST_HELD))


def looks(run: Run, earlier: Iterable[tuple[str, Run]] = ()) -> list[Look]:
    """Return every lookup of a run, in order. Misses are compared with earlier ones, also those of the `earlier` runs.

    earlier: other runs, each with its name for readers.
    """
    known = _Known({})
    for label, other in earlier:
        for function, compiled in other.session.compiles():
            for event in compiled.caches:
                place = f"compile {compiled.id} of {label}"
                known.of(event.cache, function.name).append((place, read_record(other.text(event.artefact.file))))
    found_looks: list[Look] = []
    for function, compiled in run.session.compiles():
        compile_looks, pending = [], []
        for event in compiled.caches:
            record = read_record(event.artefact.text or run.text(event.artefact.file))
            entries = known.of(event.cache, function.name)
            compile_looks.append(_look(function, compiled, event, record, entries))
            pending.append((entries, record))
        # The kernels of one compile are not earlier versions of each other.
        for entries, record in pending:
            entries.append((f"compile {compiled.id}", record))
        found_looks += _with_inferred(compile_looks)
    return found_looks


def _look(
    function: Function, compiled: Compile, event: CacheEvent, record: Record, earlier: Iterable[tuple[str, Record]]
) -> Look:
    if event.outcome == HIT:
        return Look(function, compiled, event, "", event.seconds_saved or record.seconds)
    if event.outcome == BYPASS:
        return Look(function, compiled, event, f"torch bypassed it: {event.reason or 'no reason given'}", 0.0)
    if event.cache == PGO:
        return Look(function, compiled, event, NO_SIZES, 0.0)
    near = nearest(record, earlier)
    if near is None:
        untold = "" if record.parts else "; torch does not record the components of this key"
        why = f"nothing similar was compiled before, as far as is known{untold}"
        return Look(function, compiled, event, why, record.seconds)
    return Look(function, compiled, event, _words(near, record), record.seconds, near.cause, near.place)


def _words(near: Nearest[str], record: Record) -> str:
    if near.cause is None:
        status = f" (torch: {record.status.replace('_', ' ')})" if record.status else ""
        return f"{near.place} has the same key{status}: its entry was not kept, or is in another folder or machine"
    more = f"; because of it differ {', '.join(near.cause.follows)}" if near.cause.follows else ""
    return f"against {near.place}, {near.cause.text}{more}"


def _with_inferred(compile_looks: list[Look]) -> list[Look]:
    """Return the lookups of one compile. If torch gives no components of a key, use the cause of the other cache.

    AOTAutograd's key is made from its own settings, and from the same graph as Inductor's key.
    """
    missed = [look for look in compile_looks if look.event.outcome == MISS and look.event.cache in GRAPHS]
    known = next((look for look in missed if look.cause is not None), None)
    if known is None:
        return compile_looks
    return [
        Look(look.function, look.compile, look.event, known.why, look.seconds, known.cause, known.nearest)
        if look in missed and look.cause is None
        else look
        for look in compile_looks
    ]
