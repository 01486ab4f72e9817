"""Normalised instructions: the one form that everything after `bytecode/` reads.

`depyf.bytecode.normalise.normalise(code)` returns a `Listing`. What each operation
means is in `depyf.bytecode.operations`; nothing downstream knows a Python version.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from depyf.bytecode.code import Code
from depyf.bytecode.places import Places


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
    """Where an exception goes: the stack is cut to `depth` values, then the offset
    (`lasti`, if asked for) and the exception are pushed, then control goes to the
    instruction with index `target`.

    The block stack of 3.7 to 3.10 is written down in the same form, PUSH_EXC_INFO at the
    start of a handler and the clean-up handler around it included.
    """

    target: int
    depth: int
    lasti: bool


class Beyond(NamedTuple):
    """An instruction by index, and the number of values on the stack there."""

    target: int
    depth: int


class Extent(NamedTuple):
    """The statement of a loop: the offset where it is opened, its first instruction by index, the offset behind it."""

    opened: int
    start: int
    behind: int


@dataclass(slots=True)
class Listing:
    """The normalised instructions of one code object, in order, without those that
    do nothing (NOP, RESUME, CACHE, EXTENDED_ARG, MAKE_CELL, COPY_FREE_VARS...).

    negates: in a test, `not a in b` would be another operation than `a in b`.
    iterates_tuples: the compiler makes a tuple of a list display that a loop iterates over.
    exact_ranges: a jump has the handler that its statement has.
    loops: how far the statements of loops reach, where the code says it.
    beyond: for instructions that never go on, by index, where the compiler wrote code as if they did. That
        code may be out of reach otherwise; it shows how the statements of the source stood.
    skips: jumps that nothing reaches, which the compiler wrote over the `else` of what never falls through: by the
        offset of what follows each, the offset that it jumps to.
    has_idle_end: the compiler wrote a return behind all that is reached, as if control came to the end.
    function_names: by offset of MAKE_FUNCTION the qualified name of the function, where its code does not say it.
    places: where each 2-byte unit of the bytecode stands in the source; empty where the code does not say it.
    source_order: the compiler wrote the code in the order of the source, and no part of it twice.
    keeps_constants: the constant that a loop tests stays among the constants, though nothing loads it.
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
