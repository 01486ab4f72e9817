"""Mutants that differ only in how they count: in the numbers of blocks, in flags, and where control never gets.

**The same once numbers are followed.** Some local variables are never bound to anything but numbers, truth values and
None that stand in the code: the states of a loop that dispatches, flags. Each code is written out for each of their
values: what only moves or compares such values is done while writing, a jump on them is followed, and one on a function
or display made right before it, a read of what is bound nowhere on the way only raises, and what is never reached is
not written, functions inside it included. When both come out the same, instruction for instruction, with the same
handlers, what runs is the same but for these numbers, which nobody sees. So it is where the body of a loop stands twice
in it.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Instruction
from depyf.bytecode.normalise import normalise
from depyf.bytecode.operations import OPERATIONS
from depyf.bytecode.reader import read
from depyf.verify.flow import Flow
from tools.survivors.instructions import argument, same_instructions

Number = int | float | bool | None
Known = tuple[tuple[str, Number, type], ...]
"""The variables that are bound to numbers, with these."""
Node = tuple[int, Known, tuple[Number, ...], tuple[type, ...]]
"""An instruction, what variables are bound to, and the numbers on top of the stack with their types."""

NUMBERS = (int, float, bool, type(None))
MOST_NODES = 20_000
COMPARE: dict[str, Callable[[Any, Any], object]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}


class NotFollowed(Exception):
    """There are too many values to follow, or one is not known."""


@dataclass(slots=True)
class Written:
    """One instruction that is left: what it is, where it goes on, and where its exception goes (None: nowhere).

    code: the code object that it loads.
    """

    row: tuple[object, ...]
    variable: str
    follow: list[Node]
    handler: Node | None
    code: types.CodeType | None = None


def is_same_specialised(codes: tuple[types.CodeType, types.CodeType]) -> bool:
    """Tell whether two codes are the same once the numbers in their variables are followed."""
    try:
        mine, its = (Specialised(code) for code in codes)
    except NotFollowed:
        return False
    pending = [(mine.entry, its.entry)]
    seen = set(pending)
    while pending:
        here, there = pending.pop()
        one, two = mine.written[here], its.written[there]
        if one.row != two.row or len(one.follow) != len(two.follow) or (one.handler is None) != (two.handler is None):
            return False
        if one.code is not None and two.code is not None and not same_instructions(one.code, two.code):
            return False
        ways = list(zip(one.follow, two.follow))
        if one.handler is not None and two.handler is not None:
            ways.append((one.handler, two.handler))
        for way in ways:
            if way not in seen:
                seen.add(way)
                pending.append(way)
    return True


class Specialised:
    """One code, written out for each value of the variables that hold numbers only."""

    def __init__(self, code: types.CodeType) -> None:
        self.listing = normalise(read(code))
        self.flow = Flow(self.listing)
        self.bound = self.flow.bound
        self.numeric = numeric(self.listing.instructions, frozenset(self.listing.code.parameters))
        self.targets = {item.target for item in self.listing.instructions}
        self.written: dict[Node, Written] = {}
        self.entry = self.silent((0, (), (), ()))
        work = [self.entry]
        while work:
            node = work.pop()
            if node in self.written:
                continue
            if len(self.written) > MOST_NODES:
                raise NotFollowed
            made = self.written[node] = self.write(node)
            work += [*made.follow, *([made.handler] if made.handler is not None else [])]
        while self.cut_reads():
            pass

    def silent(self, node: Node) -> Node:
        """Return where control stands once everything is done that only moves numbers."""
        for _ in range(MOST_NODES):
            following = self.step(node)
            if following is None:
                return node
            node = following
        raise NotFollowed

    def step(self, node: Node) -> Node | None:
        """Do one instruction that only moves numbers; return None where it does more."""
        place, known, stack, _ = node
        if place >= len(self.listing.instructions):
            return None
        item = self.listing.instructions[place]
        values = {name: value for name, value, _ in known}
        match item.op:
            case "CONST" if type(item.arg) in NUMBERS:
                return at(place + 1, values, (*stack, item.arg))  # type: ignore[arg-type]
            case "LOAD_FAST" if item.arg in values:
                return at(place + 1, values, (*stack, values[str(item.arg)]))
            case "STORE_FAST" if item.arg in self.numeric and stack:
                return at(place + 1, {**values, str(item.arg): stack[-1]}, stack[:-1])
            case "POP" if stack:
                return at(place + 1, values, stack[:-1])
            case "COPY" if isinstance(item.arg, int) and len(stack) >= item.arg:
                return at(place + 1, values, (*stack, stack[-item.arg]))
            case "SWAP" if isinstance(item.arg, int) and len(stack) >= item.arg:
                moved = list(stack)
                moved[-1], moved[-item.arg] = moved[-item.arg], moved[-1]
                return at(place + 1, values, tuple(moved))
            case "JUMP":
                return at(item.target, values, stack)
            case "JUMP_IF_TRUE" | "JUMP_IF_FALSE" if stack:
                jumps = bool(stack[-1]) == (item.op == "JUMP_IF_TRUE")
                return at(item.target if jumps else place + 1, values, stack[:-1])
        answer = computed(item, stack)
        return None if answer is None else at(place + 1, values, answer)

    def write(self, node: Node) -> Written:
        """Return what is left of the instruction where control stands; numbers below it are loaded first."""
        place, known, stack, kinds = node
        if stack:
            rest = (place, known, stack[1:], kinds[1:])
            return Written(("CONST", kinds[0], stack[0]), "", [rest], None)
        item = self.listing.instructions[place]
        if item.op == "STORE_FAST" and item.arg in self.numeric:
            raise NotFollowed
        raises = OPERATIONS[item.op].raises
        if item.op == "LOAD_FAST":
            raises = not self.bound[place] & self.flow.bit[str(item.arg)]
        handler = self.flow.handlers[place]
        follow = [self.silent((to, known, (), ())) for to in self.successors(place)]
        caught = self.silent((handler, known, (), ())) if raises and handler >= 0 else None
        variable = str(item.arg) if item.op.endswith("_FAST") else ""
        code = item.arg.origin if isinstance(item.arg, Code) else None
        return Written((item.op, argument(item)), variable, follow, caught, code)

    def successors(self, place: int) -> tuple[int, ...]:
        """Return where control goes; a jump on what was made right before it, by its truth."""
        item, before = self.listing.instructions[place], self.listing.instructions[place - 1]
        if place == 0 or place in self.targets or item.op not in ("JUMP_IF_TRUE", "JUMP_IF_FALSE"):
            return self.flow.successors[place]
        if before.op == "MAKE_FUNCTION":
            truth = True
        elif before.op in ("BUILD_TUPLE", "BUILD_LIST", "BUILD_SET", "BUILD_MAP"):
            truth = bool(before.arg)
        else:
            return self.flow.successors[place]
        return (item.target if truth == (item.op == "JUMP_IF_TRUE") else place + 1,)

    def cut_reads(self) -> bool:
        """Let reads of what is bound nowhere on the way to them go nowhere but to their handler."""
        parameters = frozenset(self.listing.code.parameters)
        may: dict[Node, frozenset[str]] = {self.entry: parameters}
        work = [self.entry]
        while work:
            node = work.pop()
            made, here = self.written[node], may[node]
            after = here | {made.variable} if made.row[0] == "STORE_FAST" else here
            for target in [*made.follow, *([made.handler] if made.handler is not None else [])]:
                known = may.get(target)
                if known is None or not after <= known:
                    may[target] = after | (known or frozenset())
                    work.append(target)
        cut = False
        for node in may:
            made = self.written[node]
            if made.row[0] in ("LOAD_FAST", "DELETE_FAST") and made.variable not in may[node] and made.follow:
                made.follow = []
                cut = True
        return cut


def at(place: int, values: dict[str, Number], stack: tuple[Number, ...]) -> Node:
    """Return the node of a place."""
    known = tuple(sorted((name, value, type(value)) for name, value in values.items()))
    return place, known, stack, tuple(map(type, stack))


def computed(item: Instruction, stack: tuple[Number, ...]) -> tuple[Number, ...] | None:
    """Return the stack behind an operation of numbers, or None for any other."""
    if item.op == "COMPARE" and len(stack) > 1 and not any(value is None for value in stack[-2:]):
        return (*stack[:-2], bool(COMPARE[str(item.arg)](stack[-2], stack[-1])))
    if stack and (item.op == "TO_BOOL" or (item.op == "UNARY" and item.arg == "not")):
        return (*stack[:-1], bool(stack[-1]) == (item.op == "TO_BOOL"))
    return None


def numeric(items: list[Instruction], parameters: frozenset[str]) -> frozenset[str]:
    """Return the variables that are only bound to numbers right behind them, and never unbound."""
    found = {str(item.arg) for item in items if item.op == "STORE_FAST"} - parameters
    for place, item in enumerate(items):
        if item.op in ("DELETE_FAST", "LOAD_FAST_CLEAR") or (item.op == "STORE_FAST" and not is_number(items, place)):
            found.discard(str(item.arg))
    targets = {item.target for item in items}
    inside = {str(item.arg) for place, item in enumerate(items) if item.op == "STORE_FAST" and place in targets}
    return frozenset(found - inside)


def is_number(items: list[Instruction], place: int) -> bool:
    """Tell whether a number is what the instruction at a place stores."""
    for before in reversed(items[:place]):
        if before.op == "CONST":
            return type(before.arg) in NUMBERS
        if not (before.op == "COPY" and before.arg == 1) and before.op != "STORE_FAST":
            return False
    return False
