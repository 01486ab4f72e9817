"""Normalised instructions: the one form that everything after `bytecode/` reads.

`depyf.bytecode.normalise.normalise(code)` returns a `Listing`. `depyf.bytecode.operations` defines the operations. No
later stage knows a Python version.
"""

from __future__ import annotations

from dataclasses import field
from operator import attrgetter
from typing import NamedTuple

from depyf.bytecode.code import Code
from depyf.bytecode.places import Places
from depyf.bytecode.records import dataclass

OP = attrgetter("op")


@dataclass(slots=True)
class Instruction:
    """One normalised operation.

    op: name of an operation in `operations.OPERATIONS`.
    arg: its argument, resolved (a name, a constant, a count, an operator...).
    target: index in `Listing.instructions` of the jump target, or -1.
    offset: byte offset of the original instruction this came from.
    line: line number in the user's file, or None.
    handler: index in `Listing.handlers` of the handler that an exception raised
        here goes to, or -1.
    """

    op: str
    arg: object
    target: int
    offset: int
    line: int | None
    handler: int


@dataclass(slots=True)
class Handler:
    """The target of an exception.

    The stack is cut to `depth` values. Then the offset (`lasti`, if requested) and the exception are pushed, and
    control continues at the instruction with index `target`. The block stack of 3.7 to 3.10 is converted to the same
    form, including PUSH_EXC_INFO at the start of a handler and the clean-up handler around it.
    """

    target: int
    depth: int
    lasti: bool


class Beyond(NamedTuple):
    """An instruction by index, and the number of values on the stack there."""

    target: int
    depth: int


class Extent(NamedTuple):
    """The statement of a loop: its start offset, its first instruction by index, and its end offset."""

    opened: int
    start: int
    behind: int


@dataclass(slots=True)
class Listing:
    """The normalised instructions of one code object, in order.

    Instructions without an effect are left out (NOP, RESUME, CACHE, EXTENDED_ARG, MAKE_CELL, COPY_FREE_VARS...).

    negates: in a test, `not a in b` would be another operation than `a in b`.
    iterates_tuples: the compiler turns a list display that a loop iterates over into a tuple.
    exact_ranges: a jump has the handler of its statement.
    loops: the extents of loop statements, if the code shows them.
    beyond: instructions that never fall through, by index, although the compiler wrote code after them as if they did.
        That code may be unreachable otherwise; it shows the order of the source's statements.
    skips: unreachable jumps that the compiler wrote over the `else` of a body that never falls through: by the offset
        of the instruction after each, the offset of its target.
    has_idle_end: the compiler wrote an unreachable return at the end.
    function_names: by offset of MAKE_FUNCTION the qualified name of the function, if its code does not have it.
    places: the source location of each 2-byte unit of the bytecode; empty if the code has none.
    source_order: the compiler wrote the code in the order of the source, without duplicates.
    keeps_constants: the constant that a loop tests stays among the constants, although no instruction loads it.
    """

    code: Code
    instructions: list[Instruction]
    handlers: list[Handler]
    source_order: bool = False
    keeps_constants: bool = False
    exact_ranges: bool = False
    negates: bool = True
    iterates_tuples: bool = True
    beyond: dict[int, Beyond] = field(default_factory=dict)
    loops: list[Extent] = field(default_factory=list)
    skips: dict[int, int] = field(default_factory=dict)
    has_idle_end: bool = False
    function_names: dict[int, object] = field(default_factory=dict)
    places: Places = field(default_factory=list)
    _ops: frozenset[str] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def ops(self) -> frozenset[str]:
        """The names of the operations in the listing."""
        if self._ops is None:
            self._ops = frozenset(map(OP, self.instructions))
        return self._ops
