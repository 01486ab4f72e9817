"""What programs of the wide profile have more of: managers, and all that waits for others."""

from __future__ import annotations

import random
from collections.abc import Callable

from depyf.bytecode.versions.facts import Facts
from tests.quality.fuzz.program import (
    ASYNC,
    ASYNC_GENERATOR,
    COROUTINE,
    GENERATOR,
    Block,
    Exit,
    Kinds,
    Op,
    Program,
    Region,
)

MODES = (GENERATOR, COROUTINE, COROUTINE, ASYNC_GENERATOR)
CleanUp = Callable[[int, Kinds], "int | None"]
MayProtect = Callable[[int, Kinds], bool]


class Wide:
    """Makes up operations and handlers for one program.

    natively: whether what handlers of managers and iterators find on the stack is no kind of its own.
    """

    def __init__(self, chance: random.Random, facts: Facts, program: Program) -> None:
        self.chance = chance
        self.program = program
        self.pairs = "LOAD_SPECIAL" in facts.table.opcodes.values()
        self.natively = facts.exceptions != "table"
        self.mode = program.mode if program.generator else ""

    def next(self, kinds: Kinds, observed: Op) -> list[Op]:
        """Return operations to try."""
        if kinds and kinds[-1] in "xyz" and self.chance.random() < 0.5:
            return self.leave(kinds)
        options: list[list[Op]] = [[observed, Op("ENTER", self.pairs)]] * 2
        if self.mode == GENERATOR:
            options.append([observed, Op("DELEGATE")])
        if self.mode in ASYNC:
            options += [
                [observed, Op("AWAIT", 0)],
                [Op("AWAIT", 0)],
                [observed, Op("ENTER_ASYNC", self.pairs), Op("AWAIT", 1)],
                [observed, Op("GET_AITER")],
            ]
        return self.chance.choice(options)

    def leave(self, kinds: Kinds) -> list[Op]:
        """Return operations that leave a manager on top."""
        is_async = "z" in kinds[-2:]
        return [Op("LEAVE", self.pairs), *([Op("AWAIT", 2)] if is_async and self.mode in ASYNC else []), Op("POP")]

    def exit_place(self, kinds: Kinds) -> int:
        """Return how many values lie below what is above the last exit, or 0 where there is none that may be asked."""
        for place in range(len(kinds), 0, -1):
            if kinds[place - 1] == "p":
                return 0
            if kinds[place - 1] in ("y" if self.pairs else "xz"):
                is_async = kinds[place - 1 - self.pairs] == "z"
                return place if self.mode in ASYNC or not is_async else 0
        return 0

    def with_region(self, kept: Kinds, outer: int, clean_up: CleanUp) -> tuple[int, list[int]] | None:
        """Add a handler that asks the exit on top of what is kept; return it, and the blocks to fill."""
        program = self.program
        is_async = kept[-1 - self.pairs] == "z"
        if self.natively:
            region = Region(len(program.blocks), kept, native="async with" if is_async else "with")
            program.blocks.append(Block(region.entry, region=outer))
            program.regions.append(region)
            return len(program.regions) - 1, [region.target]
        inside = (*kept, "l", "p", "e")
        cleanup = clean_up(outer, inside[:-1])
        if cleanup is None:
            return None
        first = len(program.blocks)
        asking = [Op("WITH_EXCEPT_START", self.pairs), *([Op("AWAIT", 2)] if is_async else [])]
        program.blocks += [
            Block((*kept, "l", "e"), [Op("PUSH_EXC_INFO")], Exit("goto", (first + 1,)), outer),
            Block(inside, asking, Exit("true", (first + 2, first + 3)), cleanup),
            Block(inside, region=cleanup),
            Block(inside, [], Exit("reraise", arg=2), cleanup),
        ]
        program.regions.append(Region(first, kept, lasti=True))
        return len(program.regions) - 1, [first + 2]

    def awaiting_next(self, kinds: Kinds, outer: int) -> tuple[int, list[int]]:
        """Add a block that awaits the next value of an iterator, and a handler for its end; return it, and the blocks
        to fill."""
        program = self.program
        first = len(program.blocks)
        native = "async for" if self.natively else ""
        region = Region(first + 1, kinds, native=native)
        after = kinds[:-1]
        program.regions.append(region)
        program.blocks += [
            Block(kinds, [Op("ANEXT")], Exit("goto", (first + 2,)), len(program.regions) - 1),
            Block(region.entry, [] if native else [Op("END_ASYNC_FOR")], Exit("goto", (first + 3,)), outer),
            Block((*kinds, "o"), region=outer),
            Block(after, region=outer),
        ]
        return first, [first + 2, first + 3]
