"""The normalised listings of code objects that a proof looks at, each made once."""

from __future__ import annotations

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Listing
from depyf.bytecode.normalise import normalise


class Listings:
    """Listings by code object; they belong to the proof, and nobody changes them. They say no lines."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Code, Listing]] = {}

    def of(self, code: Code) -> Listing:
        """Return the listing of a code object. Raises `DecompilationError` for bytecode that cannot be read."""
        known = self.known.get(id(code))
        if known is None:
            known = self.known[id(code)] = (code, normalise(code, lines=False))
        return known[1]
