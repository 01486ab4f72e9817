"""Find the earlier cache entry that is most similar to a lookup, and why it was not used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Generic, TypeVar

from depyf.bytecode.records import dataclass
from depyf.findings.cache_misses.causes import cause, distance
from depyf.findings.cache_misses.kernel_causes import SOURCES
from depyf.findings.cache_misses.key import Record
from depyf.findings.cache_misses.lines import Cause

Place = TypeVar("Place")

BACKWARD = "fx_kwargs[is_backward]"


@dataclass(frozen=True, slots=True)
class Nearest(Generic[Place]):
    """The most similar earlier entry, where it was made, and how its key differs; None if the keys are equal."""

    place: Place
    cause: Cause | None


def nearest(record: Record, earlier: Iterable[tuple[Place, Record]]) -> Nearest[Place] | None:
    """Return the entry whose key differs from a record's in the fewest components, the last one if there are several.

    Among kernels with equally many differences, it is the one that shares most lines of the kernel's text. Return None
    if there is no entry of the same direction, or if torch does not give the components of the keys.
    """
    best: tuple[tuple[int, int], Place, Record] | None = None
    for place, other in earlier:
        if other.key and other.key == record.key:
            return Nearest(place, None)
        if not record.parts or not other.parts or not _is_alike(record, other):
            continue
        apart = distance(other, record), -_lines_in_common(other, record)
        if best is None or apart <= best[0]:
            best = apart, place, other
    return Nearest(best[1], cause(best[2], record)) if best is not None else None


def _lines_in_common(left: Record, other: Record) -> int:
    texts = [[part.value for name, part in record.parts.items() if name in SOURCES] for record in (left, other)]
    lines = [Counter(line for text in side for line in text.splitlines()) for side in texts]
    return (lines[0] & lines[1]).total()


def _is_alike(left: Record, other: Record) -> bool:
    """Return whether both records belong to a forward, or both to a backward."""
    sides = [record.parts.get(BACKWARD) for record in (left, other)]
    return (sides[0] and sides[0].digest) == (sides[1] and sides[1].digest)
