"""One side at work: its stack, where it stands, and where its exceptions go."""

from __future__ import annotations

from dataclasses import dataclass

from depyf.bytecode.listing import Instruction, Listing
from tests.quality.survivors.symbols import NotFollowed, Side, State, Term

LEFT = -1
"""Where a side stands whose exception left the frame; the exception is all of its stack."""


@dataclass(frozen=True, slots=True)
class Fork:
    """Two ways on that no code decides: of a test of identity, or of a variable that may be unbound.

    term: the value that is one thing or another.
    """

    term: Term


@dataclass(slots=True)
class Running:
    """One side at work.

    groups: whether tracebacks matter in this code: then to raise again is something that others see.
    """

    listing: Listing
    state: State
    side: Side
    groups: bool

    @property
    def item(self) -> Instruction:
        """The instruction where the side stands."""
        if not 0 <= self.side.place < len(self.listing.instructions):
            raise NotFollowed
        return self.listing.instructions[self.side.place]

    @property
    def name(self) -> str:
        """The argument of the instruction, which is a name or a sign."""
        return str(self.item.arg)

    @property
    def count(self) -> int:
        """The argument of the instruction, which is a number."""
        if not isinstance(self.item.arg, int):
            raise NotFollowed
        return self.item.arg

    @property
    def pair(self) -> tuple[object, object]:
        """The argument of the instruction, which is two things."""
        match self.item.arg:
            case (first, second):
                return first, second
        raise NotFollowed

    def top(self, depth: int = 1) -> Term:
        """Return a value on the stack, 1 for the top."""
        if not 1 <= depth <= len(self.side.stack):
            raise NotFollowed
        return self.state.resolve(self.side.stack[-depth])

    def give(self, pops: int, *terms: Term) -> bool:
        """Replace what is on top of the stack, and go on."""
        if pops > len(self.side.stack):
            raise NotFollowed
        del self.side.stack[len(self.side.stack) - pops :]
        self.side.stack.extend(terms)
        self.side.place += 1
        return True

    def many(self, count: int) -> tuple[Term, ...]:
        """Return what is on top of the stack, the deepest first."""
        return tuple(self.top(depth) for depth in range(count, 0, -1))

    def throw(self, handler: int, exception: Term) -> bool:
        """Go where an exception goes: to a handler by number, or out of the frame (-1)."""
        side = self.side
        if handler < 0:
            side.stack, side.place = [exception], LEFT
            return True
        entry = self.listing.handlers[handler]
        if len(side.stack) < entry.depth:
            raise NotFollowed
        side.stack[entry.depth :] = [*([self.state.symbols.of("lasti")] if entry.lasti else []), exception]
        side.place = entry.target
        return True
