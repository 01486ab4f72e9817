"""What grows while a program is written as instructions: words, constants, names."""

from __future__ import annotations

import random
import types
from collections.abc import Callable
from typing import Any

from depyf.bytecode.code import CO_FUTURE_ANNOTATIONS
from depyf.bytecode.versions.known import FACTS
from tests.quality.fuzz.encode import Word
from tests.quality.fuzz.program import FREE_VARIABLES, Kinds, Program

VARIABLES = ("a", "b", "c", "x", "y", "z", "w")
SPARE = ("t1", "t2", "t3", "t4", "t5", "t6")
"""Variables that no program names, where values wait while blocks are set up."""
CLEANUPS = 1000
"""The first of the numbers of handlers of single instructions."""
CELLS = ("k", "kk")
FREE = ("fr",)
ENTERING = frozenset(
    "BINARY_OP BINARY_SUBSCR CALL CALL_FUNCTION_EX CALL_KW FOR_ITER LOAD_ATTR PRECALL SEND".split()
)
"""Instructions that may enter a function without a frame in C. Where one raises after that, 3.13 and newer look up the
handler of the instruction before it: no region may begin here."""


def replaced(code: types.CodeType, **changes: Any) -> types.CodeType:  # noqa: ANN401  (of many types)
    """Return a code object with other fields, those that this version has not left out."""
    return code.replace(**{name: value for name, value in changes.items() if hasattr(code, name)})


def inner_codes() -> list[types.CodeType]:
    """Return the nested functions, by index; each has so many free variables as FREE_VARIABLES says."""

    def around(k: object, kk: object) -> list[Callable[..., object]]:
        def none(p: object = 1, *, q: object = 2) -> object:
            return g(p, q)  # type: ignore[name-defined]  # noqa: F821

        def one(p: object = 1, *, q: object = 2) -> object:
            return k, p

        def two(p: object = 1, *, q: object = 2) -> object:
            nonlocal k
            k = kk
            return k, q

        return [none, one, two]

    return [function.__code__ for function in around(1, 2)]


INNER = [
    replaced(code, co_qualname=f"f.<locals>.{code.co_name}", co_flags=code.co_flags & ~CO_FUTURE_ANNOTATIONS)
    for code in inner_codes()
]
assert tuple(len(code.co_freevars) for code in INNER) == FREE_VARIABLES


class Lowering:
    """The words of one code object and its tables, as they grow.

    height: how many values lie on the stack before the operation that is being written.
    cleanups: handlers of single instructions, by label, with how many values they keep.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.facts = FACTS[program.version]
        self.opcodes = frozenset(self.facts.table.opcodes.values())
        self.chance = random.Random(program.noise)
        self.words: list[Word] = []
        self.consts: list[object] = [None]
        self.names: list[str] = []
        self.pending: list[int] = []
        self.region = -1
        self.labels = len(program.blocks)
        self.pads: list[tuple[int, Kinds, str, int]] = []
        self.depth = 0
        self.height = 0
        self.cleanups: list[tuple[int, int]] = []

    def put(self, name: str, arg: int = 0, target: int | None = None, *, bare: bool = False) -> None:
        """Add an instruction; a bare one without prefixes."""
        if name in ENTERING and self.words and self.words[-1].region != self.region:
            self.words.append(Word("NOP", labels=tuple(self.pending), region=self.region))
            self.pending.clear()
        prefixes = 1 if self.chance.random() < 0.01 and not bare else 0
        self.words.append(Word(name, arg, target, tuple(self.pending), prefixes, self.region))
        self.pending.clear()

    def put_protected(self, name: str, arg: int, handler: int, kept: int) -> None:
        """Add an instruction that has a handler of its own."""
        region, self.region = self.region, CLEANUPS + len(self.cleanups)
        self.cleanups.append((handler, kept))
        self.put(name, arg, bare=True)
        self.region = region

    def const(self, value: object) -> int:
        """Return the index of a constant."""
        for place, known in enumerate(self.consts):
            if known is value or (type(known) is type(value) and repr(known) == repr(value)):
                return place
        self.consts.append(value)
        return len(self.consts) - 1

    def name(self, name: str) -> int:
        """Return the index of a name."""
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def slot(self, name: str) -> int:
        """Return the index of a cell or free variable for LOAD_DEREF."""
        cells = (*CELLS, *FREE)
        return cells.index(name) + (len(VARIABLES) + len(SPARE) if self.facts.shared_slots else 0)

    def has(self, name: str) -> bool:
        """Return whether the version has an opcode."""
        return name in self.opcodes

    def load(self, value: object) -> None:
        """Load a constant, in one of the ways there are."""
        if self.has("LOAD_SMALL_INT") and type(value) is int and 0 <= value < 256 and self.chance.random() < 0.7:
            self.put("LOAD_SMALL_INT", value)
        else:
            self.put("LOAD_CONST", self.const(value))

    def jump(self, target: int) -> None:
        """Jump, forwards or back."""
        if self.has("JUMP_ABSOLUTE"):
            self.put("JUMP_ABSOLUTE", target=target)
        elif self.is_back(target):
            self.put("JUMP_BACKWARD", target=target)
        else:
            self.put("JUMP_FORWARD", target=target)

    def is_back(self, target: int) -> bool:
        """Return whether a label has been placed."""
        return target in self.pending or any(target in word.labels for word in self.words)

    def new_label(self) -> int:
        """Return a label."""
        self.labels += 1
        return self.labels - 1

    def pad(self, kinds: Kinds, kind: str, target: int) -> int:
        """Return the label of a few instructions at the end of the code: `loop` end, `fuel` end, or `jump`."""
        label = self.new_label()
        self.pads.append((label, kinds, kind, target))
        return label
