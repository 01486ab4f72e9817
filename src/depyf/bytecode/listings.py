"""The normalised listings of code objects, each made once for all readers."""

from __future__ import annotations

from depyf.bytecode.code import Code
from depyf.bytecode.depths import stack_depths
from depyf.bytecode.listing import Listing
from depyf.bytecode.normalise import normalise
from depyf.bytecode.records import dataclass


@dataclass(slots=True)
class Made:
    """A listing, whether it has the source lines, and whether its stack depth was checked."""

    code: Code
    listing: Listing
    says_lines: bool
    is_measured: bool


class Listings:
    """Listings by code object, shared between the decompiler and the proof. Immutable by convention."""

    def __init__(self) -> None:
        self.known: dict[int, Made] = {}

    def of(self, code: Code) -> Listing:
        """Return the listing of a code object, possibly without lines.

        Raises `DecompilationError` for unreadable bytecode, and for inconsistent stack depths.
        """
        entry = self.known.get(id(code))
        if entry is None:
            entry = self.known[id(code)] = Made(code, normalise(code, lines=False), False, True)
        if not entry.is_measured:
            stack_depths(entry.listing)
            entry.is_measured = True
        return entry.listing

    def with_lines(self, code: Code) -> Listing:
        """Return the listing of a code object with its lines, for a caller that executes it on a stack.

        Raises `DecompilationError` for unreadable bytecode.
        """
        entry = self.known.get(id(code))
        if entry is None or not entry.says_lines:
            entry = self.known[id(code)] = Made(code, normalise(code, measures=False), True, False)
        return entry.listing
