"""What the layers above ask about a Python version: behaviours, never the version itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from depyf.bytecode.draft import Fold
from depyf.bytecode.expansions import FIXED, Expansion
from depyf.bytecode.operand import Steps
from depyf.bytecode.unmarshal import CodeFields
from depyf.bytecode.versions.table import OpcodeTable

CACHE, EXTENDED_ARG = "CACHE", "EXTENDED_ARG"
"""Opcodes that are part of another instruction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Behaviours of one CPython feature version.

    table: the generated opcode table.
    expansions: opcode name to what it stands for.
    fields: names of a marshalled code object's fields in order, and whether each is a plain number.
    jump_unit: bytes per unit of a jump argument.
    backward: opcode names that jump backwards by their argument.
    exceptions: where handlers are written down: on the block stack, or in a table.
    walked: the interpreter keeps values on the stack that normalised code does not have.
    lines: format of the line table.
    value_first: the value of an item of a dictionary comprehension is computed before its key.
    source_order: the compiler writes code in the order of the source, and no part of it twice.
    shared_slots: local, cell and free variables share one row of slots.
    null_above: a call's null (or `self`) stands above the callable.
    docstring_flag: a flag tells whether the first constant of a function is its docstring; else any string there is.
    class_lines: the compiler stores in a class body the line where the class begins.
    cleans_docstrings: the compiler takes the margin off docstrings.
    star_in_index: the grammar has `x[*a]`.
    nested_quotes: the fields of an f-string may hold its own quotes and backslashes.
    negates: in a test, `not a in b` is compiled as `a not in b`, and `not a is b` as `a is not b`.
    iterates_tuples: the compiler makes a tuple of a list display that a loop iterates over.
    set_fills: how often the compiler fills a constant set, each time in the order in which the one before is iterated
        over.
    loose_tests: no handler protects a test of a value that is kept, where the compiler has led its jump past another.
    keeps_constants: the constant that a loop tests stays among the constants, though nothing loads it.
    percent_joins: the compiler makes the same of `'%s' % (a,)` as of `f'{a!s}'`.
    guesses: folds that hide values of the interpreter's, tried first: a program may use those values.
    folds: what joins instructions of this version's idioms, in order.
    fixed: opcode name to what it stands for, where the argument does not matter; so it is where a step jumps.
    jumping: opcode names of which a step jumps.
    sizes: opcode number to name and size in bytes, caches included, of what stands for something by itself.
    """

    table: OpcodeTable
    expansions: Mapping[str, Expansion]
    fields: CodeFields
    jump_unit: int
    backward: frozenset[str]
    exceptions: str
    walked: bool
    lines: str
    source_order: bool
    value_first: bool
    shared_slots: bool
    null_above: bool
    docstring_flag: bool
    class_lines: bool
    cleans_docstrings: bool
    star_in_index: bool
    nested_quotes: bool
    negates: bool
    loose_tests: bool
    keeps_constants: bool
    percent_joins: bool
    iterates_tuples: bool
    set_fills: int
    folds: tuple[Fold, ...]
    guesses: tuple[Fold, ...] = ()
    fixed: Mapping[str, Steps] = field(init=False)
    jumping: frozenset[str] = field(init=False)
    sizes: Mapping[int, tuple[str, int]] = field(init=False)

    def next(
        self, table: OpcodeTable, *, changed: Mapping[str, Expansion], gone: tuple[str, ...] = (), **facts: object
    ) -> Facts:
        """Return the facts of the next version: expansions changed or gone, other facts by name."""
        expansions = {name: expansion for name, expansion in self.expansions.items() if name not in gone}
        expansions.update(changed)
        return dataclasses.replace(self, table=table, expansions=expansions, **facts)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        missing = set(self.table.opcodes.values()) - set(self.expansions) - {CACHE, EXTENDED_ARG}
        extra = set(self.expansions) - set(self.table.opcodes.values())
        if missing or extra:
            raise AssertionError(f"{self.table.version}: no expansion for {missing}, no opcode for {extra}")
        fixed = {name: FIXED[expansion] for name, expansion in self.expansions.items() if expansion in FIXED}
        object.__setattr__(self, "fixed", fixed)
        jumping = frozenset(name for name, steps in fixed.items() if any(step.jumps for step in steps))
        object.__setattr__(self, "jumping", jumping)
        caches = self.table.caches
        sizes = {
            number: (name, 2 + 2 * caches.get(name, 0))
            for number, name in self.table.opcodes.items()
            if name not in (CACHE, EXTENDED_ARG)
        }
        object.__setattr__(self, "sizes", sizes)
