"""The contents of the interpreter's stack, slot by slot: real values, and values that normalised code does not have."""

from __future__ import annotations

import enum
from collections.abc import Iterator

from depyf.bytecode.records import dataclass


class Kind(enum.Enum):
    """The kind of a slot. Only real slots are also on the normalised stack.

    REAL: any value.
    EXCEPTION: the exception that a handler caught.
    PREVIOUS: the exception that was being handled before.
    GHOST: a value of the interpreter's own.
    NULL: a null that has not been needed so far.
    EXCEPTION_TYPE: the type of the EXCEPTION below.
    NORMAL, CALLED, RETURNING, BREAKING, CONTINUING: why a `finally` body runs. Control fell into it, an instruction
        called it, or control leaves the function, leaves a loop, or continues a loop.
    """

    REAL = enum.auto()
    EXCEPTION = enum.auto()
    PREVIOUS = enum.auto()
    GHOST = enum.auto()
    NULL = enum.auto()
    EXCEPTION_TYPE = enum.auto()
    NORMAL = enum.auto()
    CALLED = enum.auto()
    RETURNING = enum.auto()
    BREAKING = enum.auto()
    CONTINUING = enum.auto()


REALS = (Kind.REAL, Kind.EXCEPTION, Kind.PREVIOUS)


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot. `target` is the raw instruction to continue at for CALLED and CONTINUING, or that of the `return`."""

    kind: Kind
    target: int = -1

    @property
    def is_real(self) -> bool:
        """Whether this value is on the stack of normalised code."""
        return self.kind in REALS


REAL, EXCEPTION, PREVIOUS = Slot(Kind.REAL), Slot(Kind.EXCEPTION), Slot(Kind.PREVIOUS)
GHOST, NULL, EXCEPTION_TYPE = Slot(Kind.GHOST), Slot(Kind.NULL), Slot(Kind.EXCEPTION_TYPE)
HANDLED = (GHOST, GHOST, PREVIOUS)
CAUGHT = (GHOST, EXCEPTION, EXCEPTION_TYPE)


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """A stack as a chain from its top down. Equal stacks are the same object (see `Layouts`).

    depth: number of slots. reals: number of real slots.
    """

    top: Slot
    below: Layout | None
    depth: int
    reals: int

    def slots(self) -> Iterator[Slot]:
        """Yield the slots from the top down."""
        layout: Layout = self
        while layout.below is not None:
            yield layout.top
            layout = layout.below


class Layouts:
    """Makes layouts, equal ones once."""

    def __init__(self) -> None:
        self.empty = Layout(GHOST, None, 0, 0)
        self.made: dict[tuple[Slot, int], Layout] = {}

    def push(self, layout: Layout, *slots: Slot) -> Layout:
        """Return the layout with more slots on top."""
        for slot in slots:
            key = (slot, id(layout))
            above = self.made.get(key)
            if above is None:
                above = Layout(slot, layout, layout.depth + 1, layout.reals + slot.is_real)
                self.made[key] = above
            layout = above
        return layout


def cut(layout: Layout, depth: int) -> Layout:
    """Return the lowest `depth` slots."""
    while layout.depth > depth:
        assert layout.below is not None
        layout = layout.below
    return layout


def top_slots(layout: Layout, count: int) -> list[Slot]:
    """Return the topmost slots, lowest first; fewer if the stack is not deep enough."""
    slots = [slot for slot, _ in zip(layout.slots(), range(count), strict=False)]
    return slots[::-1]


@dataclass(frozen=True, slots=True)
class Block:
    """An entry of the block stack.

    kind: 'loop', 'except', 'finally', or 'handler' while an exception is being handled.
    target: raw instruction that the block leads to (for 'handler': the handler's first).
    depth: slots on the stack when the block was entered.
    """

    kind: str
    target: int
    depth: int


Blocks = tuple[Block, ...]
"""The block stack, innermost last; CPython allows 20."""
