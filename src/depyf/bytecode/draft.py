"""The state of one code object between raw instructions and the finished listing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from operator import attrgetter

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Handler
from depyf.bytecode.operand import RawInstruction, Step, Steps
from depyf.bytecode.places import Places
from depyf.bytecode.records import dataclass
from depyf.errors import DecompilationError

NAME = attrgetter("name")


@dataclass(slots=True)
class Draft:
    """Raw instructions and their expansions so far; all lists run parallel to `raws`.

    steps: normalised operations of each raw instruction.
    targets: index of the raw instruction that each jumps to, or -1.
    lines: line number of each.
    handler: index in `handlers` of each, or -1.
    handlers: targets are indices of raw instructions.
    entries: the number of jumps and protected instructions that lead to each.
    leftovers: instructions made superfluous by folds; they are removed unless they are still reachable.
    function_names: by offset of MAKE_FUNCTION the name of the function, if its code does not have it.
    elidable: instructions whose last step is a jump; it is removed if its target follows directly.
    names: the opcode names that occur, once requested.
    has_lines: whether the caller needs source locations.
    places: the known location of each 2-byte unit in the source.
    """

    code: Code
    raws: list[RawInstruction]
    steps: list[Steps]
    targets: list[int]
    lines: list[int | None]
    handler: list[int]
    handlers: list[Handler]
    entries: list[int]
    leftovers: set[int] = field(default_factory=set)
    elidable: set[int] = field(default_factory=set)
    function_names: dict[int, object] = field(default_factory=dict)
    names: frozenset[str] | None = None
    has_lines: bool = True
    places: Places = field(default_factory=list)

    def fail(self, index: int, reason: str) -> DecompilationError:
        """Return the error for the instruction with this index."""
        return DecompilationError(reason, code=str(self.code), offset=self.raws[index].offset)

    def indices(self, name: str) -> list[int]:
        """Return the indices of the raw instructions with an opcode name."""
        if self.names is None:
            self.names = frozenset(map(NAME, self.raws))
        return [index for index, raw in enumerate(self.raws) if raw.name == name] if name in self.names else []

    def name(self, index: int) -> str:
        """Return a raw instruction's opcode name; the empty name past the end."""
        return self.raws[index].name if 0 <= index < len(self.raws) else ""

    def is_run(self, first: int, *names: str) -> bool:
        """Return whether these opcodes follow each other from `first` on, with jumps only to the first."""
        last = first + len(names)
        if last > len(self.raws) or self.raws[first].name != names[0]:
            return False
        return not any(self.entries[first + 1 : last]) and all(
            raw.name == name for raw, name in zip(self.raws[first:last], names, strict=True)
        )

    def next_kept(self, index: int) -> int:
        """Return the next instruction with steps that is reached only from this one, or -1."""
        for later in range(index + 1, len(self.raws)):
            if self.entries[later]:
                return -1
            if self.steps[later]:
                return later
        return -1

    def clear(self, first: int, end: int) -> None:
        """Remove the steps of the instructions from `first` up to `end`, jumps included."""
        for index in range(first, end):
            self.steps[index] = ()
            self.retarget(index, -1)

    def retarget(self, index: int, target: int) -> None:
        """Make an instruction jump elsewhere (-1: no longer)."""
        if self.targets[index] >= 0:
            self.entries[self.targets[index]] -= 1
        if target >= 0:
            self.entries[target] += 1
        self.targets[index] = target

    def protect(self, index: int, number: int) -> None:
        """Set the handler of an instruction's exceptions (-1: out of the code)."""
        if self.handler[index] >= 0:
            self.entries[self.handlers[self.handler[index]].target] -= 1
        if number >= 0:
            self.entries[self.handlers[number].target] += 1
        self.handler[index] = number

    def then_jump(self, index: int, target: int) -> None:
        """Jump to `target` after the steps of an instruction that has no target."""
        self.steps[index] = (*self.steps[index], Step("JUMP", None, True))
        self.retarget(index, target)
        self.elidable.add(index)


Fold = Callable[[Draft], None]
"""Rewrites an idiom of the interpreter that spans several instructions; the draft is changed in place."""
