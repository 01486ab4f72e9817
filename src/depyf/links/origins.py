"""Places in the user's source, to which lines of all artefacts are linked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from depyf.bytecode.records import dataclass

Origin: TypeAlias = tuple[str, int]
"""A file, by its name in the index, and a line number."""

Origins: TypeAlias = frozenset[Origin]

NOWHERE: Origins = frozenset()


@dataclass(frozen=True, slots=True)
class Links:
    """The links of a text: the user's lines that each of its lines came from.

    lines: by line number from 1 on; a missing line has no known origin.
    note: why the others are not known, in a sentence for the reader.
    """

    lines: Mapping[int, Origins]
    note: str

    def of(self, number: int) -> Origins:
        """Return the user's lines that a line came from; none if unknown."""
        return self.lines.get(number, NOWHERE)

    def all(self) -> Origins:
        """Return every line of the user's that the text came from."""
        return joined(self.lines.values())


def joined(parts: Iterable[Origins]) -> Origins:
    """Return the places of all parts, without duplicates."""
    return frozenset(origin for part in parts for origin in part)
