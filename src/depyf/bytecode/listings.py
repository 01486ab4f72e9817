"""The normalised listings of code objects, each made once for all who read it."""

from __future__ import annotations

from dataclasses import dataclass

from depyf.bytecode.code import Code
from depyf.bytecode.depths import stack_depths
from depyf.bytecode.listing import Listing
from depyf.bytecode.normalise import normalise


@dataclass(slots=True)
class Made:
    """A listing, whether it says the lines of the source, and whether the depth of its stack was followed."""

    code: Code
    listing: Listing
    says_lines: bool
    is_measured: bool


class Listings:
    """Listings by code object. Nobody changes one: what reads the code and what proves the result share them."""

    def __init__(self) -> None:
        self.known: dict[int, Made] = {}

    def of(self, code: Code) -> Listing:
        """Return the listing of a code object, which need not say lines.

        Raises `DecompilationError` for bytecode that cannot be read, and for a stack of different depths.
        """
        made = self.known.get(id(code))
        if made is None:
            made = self.known[id(code)] = Made(code, normalise(code, lines=False), False, True)
        if not made.is_measured:
            stack_depths(made.listing)
            made.is_measured = True
        return made.listing

    def with_lines(self, code: Code) -> Listing:
        """Return the listing of a code object with its lines, for somebody who executes it on a stack.

        Raises `DecompilationError` for bytecode that cannot be read.
        """
        made = self.known.get(id(code))
        if made is None or not made.says_lines:
            made = self.known[id(code)] = Made(code, normalise(code, measures=False), True, False)
        return made.listing
