"""The pattern tests of blocks, and queries about their operations."""

from __future__ import annotations

from dataclasses import field
from typing import cast

from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.tac import Block, Edge, Inst
from depyf.decompiler.structure.patterns.roots import SUBJECT
from depyf.decompiler.structure.patterns.write import Alternatives

OPERANDS = frozenset(
    {"CONST", "LOAD_ATTR", "LOAD_GLOBAL", "LOAD_FAST", "LOAD_DEREF", "LOAD_NAME", "LOAD_CLASSDEREF"}
    | {"BUILD_TUPLE", "BUILD_MAP", "COMPARE", "IS", "LOAD_FROM_DICT_OR_DEREF", "LOAD_FROM_DICT_OR_GLOBALS"}
)
"""Operations that compute the operands of a pattern's comparisons."""
FILLS = frozenset(
    {"LIST_APPEND", "LIST_EXTEND", "SET_ADD", "SET_UPDATE", "MAP_ADD", "DICT_MERGE", "DICT_UPDATE"}
)
"""Operations that add to a display."""
TESTED = SUBJECT | {"COMPARE", "IS", "ALTERNATIVES"}
"""Operations whose first operand is tested."""


@dataclass(slots=True)
class Test:
    """The pattern test of a block: its operations, and its targets.

    pure: the block does nothing else.
    sure: it never fails, because its last alternative is a wildcard.
    """

    root: int
    facts: list[Inst]
    success: Edge
    fail: Edge
    pure: bool
    outs: dict[int, None] = field(default_factory=dict)
    sure: bool = False

    def edges(self) -> list[Edge]:
        """Return where it leads."""
        return [self.success] if self.sure else [self.success, self.fail]


def nested(test: Test) -> int:
    """Return how many alternatives are nested where a test begins: each keeps a copy on the stack."""
    count, facts = 0, test.facts
    while facts and facts[0].op == "ALTERNATIVES" and facts[0].uses == [test.root]:
        count, facts = count + 1, cast(Alternatives, facts[0].arg).facts[0]
    return count


def first_captures(facts: list[Inst]) -> dict[int, int]:
    """Return the captures of the first alternative, by their names after the alternatives."""
    first: dict[int, int] = {}
    while (last := facts[-1] if facts else None) is not None and last.op == "ALTERNATIVES":
        alternatives = cast(Alternatives, last.arg)
        first.update((out, args[0]) for out, args in alternatives.outs)
        facts = alternatives.facts[0]
    return {out: resolved(out, first) for out in first}


def resolved(value: int, names: dict[int, int]) -> int:
    """Return the final name of a value."""
    while value in names and names[value] != value:
        value = names[value]
    return value


def is_about(subject: int, facts: list[Inst]) -> bool:
    """Return whether operations test only a value, and parts of it."""
    taken = {subject}
    for inst in facts:
        if taken.intersection(inst.uses):
            taken.update(inst.defs)
        elif inst.op in TESTED:
            return False
    return True


def has_room(left: Test, right: Test) -> bool:
    """Return whether there is a line between two tests, for the body of the first one's case."""
    before = [inst.line for inst in left.facts if inst.line is not None]
    behind = [inst.line for inst in right.facts if inst.line is not None]
    return bool(before and behind) and min(behind) > max(before) + 1


def makes_subject(inst: Inst, root: int) -> bool:
    """Return whether an operation adds to a display that is the subject: `match [*a, b]`."""
    return inst.op in FILLS and inst.uses[0] == root


def through(block: Block, into: Edge, onward: Edge) -> Edge:
    """Return an edge from the end of a block as an edge from its start.

    Args:
        block: the block that the new edge skips.
        into: the edge that leads to the block, with the values for its phis.
        onward: the edge with which the block ends.
    """
    renamed = dict(zip(block.phis, into.args))
    return Edge(onward.target, [renamed.get(arg, arg) for arg in onward.args])
