"""Map each instruction of a code to lines of a text, if the compiled text is proven equivalent.

before:
    the code:  LOAD_FAST a, LOAD_CONST 1, BINARY +, STORE_FAST b, ...
    the text:  b = a + 1
after: the proof pairs `+` with line 1; loads of its operands and the store of its result belong to the same line

Other instructions, such as those that make and drop a list, have no lines. Values are not followed across merges,
because a value on the stack there came from one path or another.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Instruction, Listing
from depyf.bytecode.operations import OPERATIONS, Operation
from depyf.bytecode.records import dataclass
from depyf.verify.assumptions import NO_ASSUMPTIONS, Assumptions
from depyf.verify.pairs import Paired, seen_pairs

Lines = frozenset[int]
NO_LINES: Lines = frozenset()

MOST_WAITING = 1000
"""The most silent operations to remember per value; it keeps nested lists linear."""


@dataclass(frozen=True, slots=True)
class _Value:
    """A value on the stack or in a variable: the lines of its producer, and its silent operations so far.

    The silent operations get the lines of the instruction that takes the value.
    """

    lines: Lines = NO_LINES
    waiting: frozenset[int] = frozenset()

    def through(self, index: int) -> _Value:
        return _Value(self.lines, _few(self.waiting | {index}))


def _few(waiting: frozenset[int]) -> frozenset[int]:
    return waiting if len(waiting) <= MOST_WAITING else frozenset()


@dataclass(slots=True)
class _State:
    """The known values at an instruction; the origin of all others is unknown."""

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
    """Return by offset the lines of `candidate` for the instructions of `original`, nested code included.

    Raises `DecompilationError` for unreadable bytecode.

    Args:
        original: the original code.
        candidate: the code compiled from the source.
        assumptions: what is known about globals.
    """
    return [(paired.original.code, _of_pair(paired)) for paired in seen_pairs(original, candidate, assumptions)]


def _of_pair(paired: Paired) -> dict[int, Lines]:
    instructions = paired.original.instructions
    own_lines: dict[int, Lines] = {}
    for index, others in paired.pairs.items():
        lines = (paired.candidate.instructions[other].line for other in others)
        own_lines[index] = frozenset(line for line in lines if line is not None)
    lines_by_index = {index: set(lines) for index, lines in own_lines.items()}
    ways = _ways_in(paired.original)
    states: dict[int, _State] = {}
    for index, item in enumerate(instructions):
        state = states.pop(index, None) or _State()
        _do(index, item, own_lines.get(index), state, lines_by_index)
        operation = OPERATIONS[item.op]
        if item.target >= 0 and ways[item.target] == 1 and _leaves_the_same(operation, item.arg):
            states[item.target] = state.copy() if operation.falls else state
        if operation.falls and ways[index + 1] == 1:
            states[index + 1] = state
    by_offset: dict[int, Lines] = {}
    for index, places in lines_by_index.items():
        offset = instructions[index].offset
        by_offset[offset] = by_offset.get(offset, NO_LINES) | places
    return {offset: lines for offset, lines in sorted(by_offset.items()) if lines}


def _leaves_the_same(operation: Operation, arg: object) -> bool:
    """Return whether the stack is the same after a jump and after its fallthrough."""
    return operation.jump_effect is not None and operation.jump_effect(arg) == operation.effect(arg)


def _ways_in(listing: Listing) -> Counter[int]:
    """Return the number of predecessors of each instruction, by index; a handler also counts as several."""
    counter = Counter(item.target for item in listing.instructions if item.target >= 0)
    counter.update(index + 1 for index, item in enumerate(listing.instructions) if OPERATIONS[item.op].falls)
    for handler in listing.handlers:
        counter[handler.target] += 2
    return counter


def _do(
    index: int, item: Instruction, own_lines: Lines | None, state: _State, lines_by_index: dict[int, set[int]]
) -> None:
    """Execute one instruction; record the lines of the instructions that it determines."""
    pops, pushes = OPERATIONS[item.op].effect(item.arg)
    name = str(item.arg)
    if own_lines is not None:
        for value in state.take(pops):
            for silent in value.waiting:
                lines_by_index.setdefault(silent, set()).update(own_lines)
        state.stack += [_Value(own_lines)] * pushes
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
            # The statement that assigned a variable is not the statement that reads it.
            state.stack.append(_Value(waiting=_few(state.variables.get(name, _Value()).waiting | {index})))
        case "STORE_FAST":
            (value,) = state.take(1)
            lines_by_index.setdefault(index, set()).update(value.lines)
            state.variables[name] = value if value.lines else value.through(index)
        case "POP":
            lines_by_index.setdefault(index, set()).update(state.take(1)[0].lines)
        case "DELETE_FAST":
            lines_by_index.setdefault(index, set()).update(state.variables.pop(name, _Value()).lines)
        case _:
            waiting = frozenset({index}).union(*(value.waiting for value in state.take(pops)))
            state.stack += [_Value(waiting=_few(waiting))] * pushes
