"""What is asked about the operations that test a pattern."""

from __future__ import annotations

import pytest

from depyf.decompiler.graph.tac import Edge, Inst
from depyf.decompiler.show.read_graph import read_graph
from depyf.decompiler.structure.patterns.facts import (
    Test as PatternTest,
)
from depyf.decompiler.structure.patterns.facts import (
    first_captures,
    has_room,
    is_about,
    makes_subject,
    nested,
    resolved,
    through,
)
from depyf.decompiler.structure.patterns.write import Alternatives
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): pass")


def insts(rows: str) -> list[Inst]:
    """Return the operations that a text shows; `; ` parts them."""
    return read_graph("block 0\n  {}\n  return\n".format(rows.replace("; ", "\n  ")), CODE).block(0).insts


def of_facts(facts: list[Inst]) -> PatternTest:
    return PatternTest(0, facts, Edge(1), Edge(2), True)


def either(uses: list[int], facts: list[Inst], outs: list[tuple[int, list[int]]] | None = None) -> Inst:
    """Return the operation of two alternatives, of which the first tests some facts."""
    return Inst("ALTERNATIVES", Alternatives([facts, []], outs or []), uses, [], None, -1)


def test_alternatives_within_each_other_are_counted() -> None:
    plain = insts("v1 = MATCH_SEQUENCE v0")
    assert nested(of_facts([])) == 0
    assert nested(of_facts(plain)) == 0
    assert nested(of_facts([either([0], plain)])) == 1
    assert nested(of_facts([either([0], [either([0], plain)]), *plain])) == 2
    assert nested(of_facts([either([5], plain)])) == 0
    assert nested(of_facts([*plain, either([0], plain)])) == 0
    assert nested(of_facts([either([0], [])])) == 1


def test_what_the_first_alternatives_capture() -> None:
    plain = insts("v1 = MATCH_SEQUENCE v0")
    assert first_captures([]) == {}
    assert first_captures(plain) == {}
    assert first_captures([either([0], plain, [(9, [3, 4])])]) == {9: 3}
    assert first_captures([either([0], plain, [(9, [3, 4])]), *plain]) == {}
    assert first_captures([either([0], [either([0], plain, [(3, [1, 2])])], [(9, [3, 4])])]) == {9: 1, 3: 1}


def test_what_a_value_is_called_in_the_end() -> None:
    assert resolved(1, {}) == 1
    assert resolved(1, {1: 2, 2: 3}) == 3
    assert resolved(1, {1: 1}) == 1
    assert resolved(1, {1: 2, 2: 2}) == 2


ABOUT = {
    "v1 = MATCH_SEQUENCE v0": True,
    "v2 = GET_LEN v0; v3 = CONST 2; v4 = COMPARE '==' v2 v3": True,
    "v2 v3 = UNPACK_SEQUENCE 2 v0; v4 = CONST 1; v5 = COMPARE '==' v2 v4": True,
    "v4 = CONST 1; v5 = COMPARE '==' v9 v4": False,
    "v4 = CONST None; v5 = IS False v9 v4": False,
    "v4 = MATCH_MAPPING v9": False,
    "v4 = CALL () v9": True,
}


@pytest.mark.parametrize("rows", ABOUT)
def test_what_tests_one_value_alone(rows: str) -> None:
    assert is_about(0, insts(rows)) is ABOUT[rows]


ROOM = {
    (":2  v1 = GET_LEN v0", ":4  v2 = GET_LEN v0"): True,
    (":2  v1 = GET_LEN v0", ":3  v2 = GET_LEN v0"): False,
    (":2  v1 = GET_LEN v0", ":2  v2 = GET_LEN v0"): False,
    (":2  v1 = GET_LEN v0; :5  v3 = GET_LEN v0", ":6  v2 = GET_LEN v0"): False,
    (":2  v1 = GET_LEN v0; :5  v3 = GET_LEN v0", ":7  v2 = GET_LEN v0"): True,
    (":2  v1 = GET_LEN v0", ":8  v2 = GET_LEN v0; :3  v3 = GET_LEN v0"): False,
    ("v1 = GET_LEN v0", ":4  v2 = GET_LEN v0"): False,
    (":2  v1 = GET_LEN v0", "v2 = GET_LEN v0"): False,
    (":2  v1 = GET_LEN v0; v4 = GET_LEN v0", "v3 = GET_LEN v0; :4  v2 = GET_LEN v0"): True,
}


@pytest.mark.parametrize("rows", ROOM)
def test_where_a_body_has_room(rows: tuple[str, str]) -> None:
    first, second = (of_facts(insts(text)) for text in rows)
    assert has_room(first, second) is ROOM[rows]


@pytest.mark.parametrize(
    ("row", "expected"),
    [("LIST_APPEND v0 v1", True), ("LIST_APPEND v1 v0", False), ("POP v0", False), ("DICT_UPDATE v0 v1", True)],
)
def test_what_adds_to_the_subject(row: str, expected: bool) -> None:
    assert makes_subject(insts(row)[0], 0) is expected


def test_an_edge_from_before_a_block() -> None:
    block = read_graph("block 0 (v5, v6)\n  -> 1 (v6, v7)\nblock 1 (v1, v2)\n  return\n", CODE).block(0)
    (onward,) = block.exit.edges()
    assert through(block, Edge(0, [8, 9]), onward) == Edge(1, [9, 7])
