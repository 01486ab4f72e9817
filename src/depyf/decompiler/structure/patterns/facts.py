"""What blocks test of a pattern, and what is asked about the operations that do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from depyf.decompiler.graph.tac import Block, Edge, Inst
from depyf.decompiler.structure.patterns.roots import SUBJECT
from depyf.decompiler.structure.patterns.write import Alternatives

OPERANDS = frozenset(
    {"CONST", "LOAD_ATTR", "LOAD_GLOBAL", "LOAD_FAST", "LOAD_DEREF", "LOAD_NAME", "LOAD_CLASSDEREF"}
    | {"BUILD_TUPLE", "BUILD_MAP", "COMPARE", "IS", "LOAD_FROM_DICT_OR_DEREF", "LOAD_FROM_DICT_OR_GLOBALS"}
)
"""Operations that compute what a pattern compares with."""
FILLS = frozenset(
    {"LIST_APPEND", "LIST_EXTEND", "SET_ADD", "SET_UPDATE", "MAP_ADD", "DICT_MERGE", "DICT_UPDATE"}
)
"""Operations that add to a display."""
TESTED = SUBJECT | {"COMPARE", "IS", "ALTERNATIVES"}
"""Operations whose first operand is tested."""


@dataclass(slots=True)
class Test:
    """What a block tests of a pattern: the operations, and where it goes on.

    pure: the block does nothing else.
    sure: it never fails, as its last alternative takes whatever there is.
    """

    root: int
    facts: list[Inst]
    success: Edge
    fail: Edge
    pure: bool
    outs: dict[int, None] = field(default_factory=dict)
    sure: bool = False


def nested(test: Test) -> int:
    """Return how many alternatives stand within each other where a test begins: a copy waits for each of them."""
    count, facts = 0, test.facts
    while facts and facts[0].op == "ALTERNATIVES" and facts[0].uses == [test.root]:
        count, facts = count + 1, cast(Alternatives, facts[0].arg).facts[0]
    return count


def first_captures(facts: list[Inst]) -> dict[int, int]:
    """Return what the first of alternatives captures, by what that is called behind them."""
    first: dict[int, int] = {}
    while (last := facts[-1] if facts else None) is not None and last.op == "ALTERNATIVES":
        alternatives = cast(Alternatives, last.arg)
        first.update((out, args[0]) for out, args in alternatives.outs)
        facts = alternatives.facts[0]
    return {out: resolved(out, first) for out in first}


def resolved(value: int, names: dict[int, int]) -> int:
    """Return what a value is called in the end."""
    while value in names and names[value] != value:
        value = names[value]
    return value


def is_about(subject: int, facts: list[Inst]) -> bool:
    """Return whether operations test nothing but a value, and what is taken out of it."""
    taken = {subject}
    for inst in facts:
        if taken.intersection(inst.uses):
            taken.update(inst.defs)
        elif inst.op in TESTED:
            return False
    return True


def has_room(one: Test, two: Test) -> bool:
    """Return whether a line is left between two tests, which holds the body of the first one's case."""
    before = [inst.line for inst in one.facts if inst.line is not None]
    behind = [inst.line for inst in two.facts if inst.line is not None]
    return bool(before and behind) and min(behind) > max(before) + 1


def makes_subject(inst: Inst, root: int) -> bool:
    """Return whether an operation adds to a display that is the subject: `match [*a, b]`."""
    return inst.op in FILLS and inst.uses[0] == root


def through(block: Block, into: Edge, onward: Edge) -> Edge:
    """Return an edge that leads on from a block as one that leads on from before it."""
    renamed = dict(zip(block.phis, into.args))
    return Edge(onward.target, [renamed.get(arg, arg) for arg in onward.args])
