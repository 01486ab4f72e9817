"""Handlers that part groups of exceptions: what the `groups` profile has more of than the wide one.

A handler keeps the exception and a list of exceptions (kind `E`) on the stack, and above these what no clause has
taken yet, an exception or None (kind `r`). Clauses test that; their bodies are filled as other blocks are, and what
they raise goes to a handler that adds it to the list. In the end all is gathered, and raised if there is anything.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.quality.fuzz.lowering import Lowering
from tests.quality.fuzz.program import Block, Exit, Kinds, Op, Program, Region
from tests.quality.fuzz.stack import Stack

CleanUp = Callable[[int, Kinds], "int | None"]
MayProtect = Callable[[int, Kinds], bool]
TYPES = ("KeyError", "ValueError", "LookupError")
PREPARE = "INTRINSIC_PREP_RERAISE_STAR"


def part(stack: Stack, arg: object) -> None:
    """CHECK_EG_MATCH: where this frame is handling an exception, as nobody else can undo what it lets be handled."""
    stack.pop("X")
    stack.pop("er")
    if "p" not in stack.kinds:
        raise stack.invalid
    stack.push("r", "r")


def note(stack: Stack, arg: int) -> None:
    """NOTE: add an exception, or None, to the list of those that were raised."""
    stack.pop("er")
    if stack.at(arg) != "E":
        raise stack.invalid


def gather(stack: Stack, arg: object) -> None:
    """PREP_RERAISE_STAR."""
    stack.pop("E")
    stack.pop("e")
    stack.push("r")


def know(stack: Stack, arg: object) -> None:
    """KNOW: what is not None is an exception."""
    stack.pop("r")
    stack.push("e")


EFFECTS: dict[str, Callable[[Stack, Any], None]] = {
    "CHECK_EG_MATCH": part,
    "BUILD_NOTES": lambda stack, arg: stack.push("E"),
    "NOTE": note,
    "PREP_RERAISE_STAR": gather,
    "KNOW": know,
}


def _gather(low: Lowering, arg: object) -> None:
    if low.has("PREP_RERAISE_STAR"):
        low.put("PREP_RERAISE_STAR")
    else:
        low.put("CALL_INTRINSIC_2", low.facts.table.intrinsics_2.index(PREPARE))


LOWERING: dict[str, Callable[[Lowering, Any], None]] = {
    "CHECK_EG_MATCH": lambda low, arg: low.put("CHECK_EG_MATCH"),
    "BUILD_NOTES": lambda low, arg: low.put("BUILD_LIST", 0),
    "NOTE": lambda low, arg: low.put("LIST_APPEND", arg),
    "PREP_RERAISE_STAR": _gather,
    "KNOW": lambda low, arg: low.put("NOP"),
}


class Groups:
    """Makes up handlers for one program."""

    def __init__(self, chance: random.Random, program: Program, clean_up: CleanUp, may_protect: MayProtect) -> None:
        self.chance = chance
        self.program = program
        self.clean_up = clean_up
        self.may_protect = may_protect

    def kind(self) -> Op:
        """Return the load of a type of exceptions."""
        return Op("LOAD_GLOBAL", self.chance.choice(TYPES))

    def region(self, kept: Kinds, outer: int) -> tuple[int, list[int]] | None:
        """Add a handler of clauses that keeps a part of the stack; return it, and the blocks to fill."""
        program = self.program
        if not self.may_protect(outer, (*kept, "q")):
            return None
        cleanup = self.clean_up(outer, (*kept, "p"))
        if cleanup is None:
            return None
        inside = (*kept, "p", "e", "E")
        first, clauses = len(program.blocks), self.chance.choice((1, 1, 2, 3))
        tests = [first + 2 + 4 * number for number in range(clauses + 1)]
        begin = [Op("COPY", 1), Op("BUILD_NOTES"), Op("SWAP", 2)]
        program.blocks += [
            Block((*kept, "e"), [Op("PUSH_EXC_INFO")], Exit("goto", (first + 1,)), outer),
            Block((*kept, "p", "e"), begin, Exit("goto", (tests[0],)), cleanup),
        ]
        todo = []
        for test, following in zip(tests, tests[1:]):
            todo.append(self._clause(inside, test, following, cleanup, first=test == tests[0]))
        todo.append(self._end(kept, inside, tests[-1], cleanup, outer))
        program.regions.append(Region(first, kept))
        return len(program.regions) - 1, todo

    def _clause(self, inside: Kinds, test: int, following: int, cleanup: int, *, first: bool) -> int:
        """Add the test of a clause, its body and the handler of that; return the block of the body."""
        program = self.program
        ask = [self.kind(), Op("CHECK_EG_MATCH"), Op("COPY", 1)]
        caught = Region(test + 3, (*inside, "r"), lasti=True)
        program.regions.append(caught)
        program.blocks += [
            Block((*inside, "e" if first else "r"), ask, Exit("none", (test + 1, test + 2)), cleanup),
            Block((*inside, "r", "r"), [Op("POP")], Exit("goto", (following,)), cleanup),
            Block((*inside, "r", "r"), [], Exit("goto", (following,)), len(program.regions) - 1),
            Block(caught.entry, [Op("NOTE", 3), Op("POP")], Exit("goto", (following,)), cleanup),
        ]
        return test + 2

    def _end(self, kept: Kinds, inside: Kinds, end: int, cleanup: int, outer: int) -> int:
        """Add what gathers and raises; return the block behind all of it."""
        gathering = [Op("NOTE", 1), Op("PREP_RERAISE_STAR"), Op("COPY", 1)]
        self.program.blocks += [
            Block((*inside, "r"), gathering, Exit("none", (end + 1, end + 2)), cleanup),
            Block((*kept, "p", "r"), [Op("POP"), Op("POP_EXCEPT")], Exit("goto", (end + 3,)), outer),
            Block((*kept, "p", "r"), [Op("KNOW"), Op("RESTORE", 2)], Exit("reraise"), outer),
            Block(kept, region=outer),
        ]
        return end + 3
