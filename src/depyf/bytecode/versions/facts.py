"""The behaviours of a Python version, for the layers above: never the version itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import field

from depyf.bytecode.draft import Fold
from depyf.bytecode.expansions import FIXED, Expansion
from depyf.bytecode.operand import Steps
from depyf.bytecode.records import dataclass
from depyf.bytecode.unmarshal import CodeFields
from depyf.bytecode.versions.table import OpcodeTable

CACHE, EXTENDED_ARG = "CACHE", "EXTENDED_ARG"
"""Opcodes that are part of another instruction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Behaviours of one CPython feature version.

    table: the generated opcode table.
    expansions: the expansion of each opcode name.
    fields: names of a marshalled code object's fields in order, and whether each is a plain number.
    jump_unit: bytes per unit of a jump argument.
    backward: opcode names that jump backwards by their argument.
    exceptions: the form of handlers: on the block stack, or in a table.
    walked: the interpreter keeps values on the stack that normalised code does not have.
    lines: format of the line table.
    value_first: the value of an item of a dictionary comprehension is computed before its key.
    source_order: the compiler writes code in the order of the source, without duplicates.
    shared_slots: local, cell and free variables share one index space.
    null_above: a call's NULL (or `self`) is above the callable.
    docstring_flag: a flag marks a function whose first constant is its docstring; else any first string is one.
    class_lines: the compiler stores the first line of a class in its body.
    cleans_docstrings: the compiler removes the indentation of docstrings.
    star_in_index: the grammar has `x[*a]`.
    nested_quotes: the fields of an f-string may contain its own quotes and backslashes.
    negates: in a test, `not a in b` is compiled as `a not in b`, and `not a is b` as `a is not b`.
    iterates_tuples: the compiler turns a list display that a loop iterates over into a tuple.
    set_fills: how often the compiler fills a constant set, each time in the iteration order of the previous one.
    loose_tests: the test of a kept value has no handler if the compiler has threaded its jump past another test.
    keeps_constants: the constant that a loop tests stays among the constants, although no instruction loads it.
    percent_joins: the compiler compiles `'%s' % (a,)` like `f'{a!s}'`.
    guesses: folds that hide values of the interpreter, tried first: a program may use those values.
    folds: the folds for this version's idioms, in order.
    fixed: opcode name to its steps, if they do not depend on the argument, and where a step jumps.
    jumping: opcode names with a step that jumps.
    sizes: opcode number to name and size in bytes, including caches, of instructions that are not part of another one.
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
        """Return the facts of the next version, with some expansions changed or removed, and other facts by name.

        Args:
            table: the opcodes of the next version.
            changed: the expansions that are new or different, by opcode name.
            gone: the opcode names that the next version no longer has.
            **facts: the other fields that change, by name.

        Raises:
            AssertionError: an opcode has no expansion, or an expansion no opcode.
        """
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
