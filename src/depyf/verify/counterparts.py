"""Which lines of a text each instruction of a code stands for, where the text compiled was proven to do the same.

before:
    the code:  LOAD_FAST a, LOAD_CONST 1, BINARY +, STORE_FAST b, ...
    the text:  b = a + 1
after: `+` was seen to do what line 1 does; what loads its operands is there for it, and what stores its result is of it

What is neither, as lists that are made and dropped, is no part of the text and has no lines. Nothing is followed to
where paths meet: what is on the stack there came from one place or the other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Instruction, Listing
from depyf.bytecode.operations import OPERATIONS, Operation
from depyf.verify.assumptions import NO_ASSUMPTIONS, Assumptions
from depyf.verify.pairs import Paired, seen_pairs

Lines = frozenset[int]
NO_LINES: Lines = frozenset()

MOST_WAITING = 1000
"""Silent operations that are remembered of one value: lists that are made of lists and taken apart stay linear."""


@dataclass(frozen=True, slots=True)
class _Value:
    """A value on the stack or in a variable: the lines of what made it, and the silent operations that it went through.

    Those are for whoever takes the value.
    """

    lines: Lines = NO_LINES
    waiting: frozenset[int] = frozenset()

    def through(self, index: int) -> _Value:
        return _Value(self.lines, _few(self.waiting | {index}))


def _few(waiting: frozenset[int]) -> frozenset[int]:
    return waiting if len(waiting) <= MOST_WAITING else frozenset()


@dataclass(slots=True)
class _State:
    """What is known at an instruction; of what is not there nobody knows where it came from."""

    stack: list[_Value] = field(default_factory=list)
    variables: dict[str, _Value] = field(default_factory=dict)

    def take(self, count: int) -> list[_Value]:
        """Return the values on top, lowest first."""
        missing = count - len(self.stack)
        taken = [_Value()] * missing + self.stack[max(0, -missing) :]
        del self.stack[max(0, -missing) :]
        return taken

    def copy(self) -> _State:
        return _State(self.stack.copy(), self.variables.copy())


def lines_of_instructions(
    original: Code, candidate: Code, assumptions: Assumptions = NO_ASSUMPTIONS
) -> list[tuple[Code, dict[int, Lines]]]:
    """Return by offset the lines of `candidate` that instructions of `original` stand for, nested code included.

    Raises `DecompilationError` for bytecode that cannot be read.
    """
    return [(one.original.code, _of_pair(one)) for one in seen_pairs(original, candidate, assumptions)]


def _of_pair(paired: Paired) -> dict[int, Lines]:
    instructions = paired.original.instructions
    own: dict[int, Lines] = {}
    for index, others in paired.pairs.items():
        lines = (paired.candidate.instructions[other].line for other in others)
        own[index] = frozenset(line for line in lines if line is not None)
    found = {index: set(lines) for index, lines in own.items()}
    ways = _ways_in(paired.original)
    states: dict[int, _State] = {}
    for index, item in enumerate(instructions):
        state = states.pop(index, None) or _State()
        _do(index, item, own.get(index), state, found)
        operation = OPERATIONS[item.op]
        if item.target >= 0 and ways[item.target] == 1 and _leaves_the_same(operation, item.arg):
            states[item.target] = state.copy() if operation.falls else state
        if operation.falls and ways[index + 1] == 1:
            states[index + 1] = state
    by_offset: dict[int, Lines] = {}
    for index, places in found.items():
        offset = instructions[index].offset
        by_offset[offset] = by_offset.get(offset, NO_LINES) | places
    return {offset: lines for offset, lines in sorted(by_offset.items()) if lines}


def _leaves_the_same(operation: Operation, arg: object) -> bool:
    """Return whether a jump leaves on the stack what going on leaves there."""
    return operation.jump_effect is not None and operation.jump_effect(arg) == operation.effect(arg)


def _ways_in(listing: Listing) -> Counter[int]:
    """Return in how many ways control comes to each instruction, by index; a handler counts as many."""
    found = Counter(item.target for item in listing.instructions if item.target >= 0)
    found.update(index + 1 for index, item in enumerate(listing.instructions) if OPERATIONS[item.op].falls)
    for each in listing.handlers:
        found[each.target] += 2
    return found


def _do(index: int, item: Instruction, own: Lines | None, state: _State, found: dict[int, set[int]]) -> None:
    """Do one instruction; note the lines of those that it is the first to tell of."""
    pops, pushes = OPERATIONS[item.op].effect(item.arg)
    name = str(item.arg)
    if own is not None:
        for value in state.take(pops):
            for silent in value.waiting:
                found.setdefault(silent, set()).update(own)
        state.stack += [_Value(own)] * pushes
        return
    match item.op:
        case "SWAP":
            taken = state.take(pops)
            taken[0], taken[-1] = taken[-1].through(index), taken[0].through(index)
            state.stack += taken
        case "COPY":
            taken = state.take(pops)
            state.stack += [*taken, taken[0].through(index)]
        case "LOAD_FAST":
            # The statement that made the value of a variable is another one than that which reads it.
            state.stack.append(_Value(waiting=_few(state.variables.get(name, _Value()).waiting | {index})))
        case "STORE_FAST":
            (value,) = state.take(1)
            found.setdefault(index, set()).update(value.lines)
            state.variables[name] = value if value.lines else value.through(index)
        case "POP":
            found.setdefault(index, set()).update(state.take(1)[0].lines)
        case "DELETE_FAST":
            found.setdefault(index, set()).update(state.variables.pop(name, _Value()).lines)
        case _:
            waiting = frozenset({index}).union(*(value.waiting for value in state.take(pops)))
            state.stack += [_Value(waiting=_few(waiting))] * pushes
