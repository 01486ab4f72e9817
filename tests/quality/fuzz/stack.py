"""The stack of a program that is generated: kinds of values, and what may not be done with them."""

from __future__ import annotations

from tests.quality.fuzz.program import Kinds, fits


class Invalid(Exception):
    """An operation where the interpreter would not survive it, or where it is of no use."""


class Stack:
    """Kinds on the stack, and how far down operations have reached; `invalid` is raised where it is not so."""

    invalid = Invalid

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = list(kinds)
        self.lowest = len(kinds)

    def pop(self, wanted: str = "v") -> str:
        """Take the top, which must be of one of the kinds."""
        if not self.kinds or not any(fits(self.kinds[-1], want) for want in wanted):
            raise Invalid
        kind = self.kinds.pop()
        self.lowest = min(self.lowest, len(self.kinds))
        return kind

    def values(self, count: int) -> list[str]:
        """Take some values, the lowest first."""
        return [self.pop() for _ in range(count)][::-1]

    def at(self, depth: int) -> str:
        """Return the kind so deep; 1 is the top."""
        if not 0 < depth <= len(self.kinds):
            raise Invalid
        return self.kinds[-depth]

    def push(self, *kinds: str) -> None:
        """Add values."""
        self.kinds.extend(kinds)
