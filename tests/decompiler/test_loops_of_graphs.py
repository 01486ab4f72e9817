"""Loops of graphs, and tests that decide whether one is entered."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.structure.loops import Irreducible, natural_loops, same_tests
from depyf.decompiler.structure.node_table import Node
from depyf.decompiler.structure.tree import If, Item, Jump


@pytest.mark.parametrize(
    ("successors", "loops"),
    [
        ({0: [1], 1: []}, []),
        ({0: [1], 1: [0]}, [(0, {0, 1})]),
        ({0: [1], 1: [1, 2], 2: []}, [(1, {1})]),
        ({0: [1], 1: [2, 3], 2: [1], 3: []}, [(1, {1, 2})]),
        ({0: [1], 1: [2], 2: [1, 3, 2], 3: [1]}, [(2, {2}), (1, {1, 2, 3})]),
    ],
)
def test_loops(successors: dict[int, list[int]], loops: list[tuple[int, set[int]]]) -> None:
    loops_found = natural_loops(successors, 0)
    assert sorted(loops_found) == sorted(loops)


def test_a_loop_with_two_entries() -> None:
    with pytest.raises(Irreducible):
        natural_loops({0: [1, 2], 1: [2], 2: [1]}, 0)


def node(label: int, test: str, body: list[Item], orelse: list[Item]) -> Node:
    branch = If(ast.parse(test, mode="eval").body, body, orelse, 0)
    jumps = [item for item in (*body, *orelse) if isinstance(item, Jump)]
    loop_node = Node.__new__(Node)
    loop_node.items, loop_node.jumps = [branch], jumps
    return loop_node


def same(first: str, other: str, *, turned: bool = False, filled: bool = False) -> tuple[str, list[int]]:
    """Return the test that two nodes share, and the nodes; the second leads to the same places, or is `turned`."""
    ways: list[list[Item]] = [[Jump(7)], [Jump(8, [ast.Pass()] if filled else None)]]
    second: list[list[Item]] = [[Jump(7)], [Jump(8, [ast.Pass()] if filled else None)]]
    if turned:
        second.reverse()
    nodes = {1: node(1, first, *ways), 2: node(2, other, *second)}
    test, labels = same_tests(nodes, [1, 2], 7)
    return "" if test is None else ast.unparse(test.test), labels


@pytest.mark.parametrize(
    ("first", "second", "turned", "given"),
    [
        ("a", "a", False, "a"),
        ("a", "b", False, ""),
        ("a", "not a", True, "a"),
        ("not a", "a", True, "a"),
        ("a", "not a", False, ""),
        ("not not a", "a", False, "a"),
        ("a", "not not a", False, "a"),
        ("a", "a", True, ""),
        ("-a", "a", False, ""),
        ("a", "-a", False, ""),
        ("-a", "-a", False, "-a"),
        ("a and b", "a and b", False, "a and b"),
        ("a and b", "a or b", False, ""),
        ("a and b", "a and c", False, ""),
        ("a and b", "a and b and c", False, ""),
        ("a and not b", "not (not a or b)", False, "a and (not b)"),
        ("a and b", "not a or not b", True, "a and b"),
        ("a and b", "not a and not b", True, ""),
        ("a and b", "a", False, ""),
        ("a in b", "a not in b", True, ""),
        ("a == b", "a != b", False, ""),
    ],
)
def test_two_tests_that_are_the_same(first: str, second: str, turned: bool, given: str) -> None:
    assert same(first, second, turned=turned) == (given, [1, 2] if given else [])


def test_arms_that_do_more_than_jump() -> None:
    assert same("a", "a", filled=True) == ("", [])
    assert same_tests({1: node(1, "a", [Jump(7)], [Jump(8)])}, [1], 7) == (None, [])
    assert same_tests({1: node(1, "a", [Jump(6)], [Jump(8)]), 2: node(2, "a", [Jump(6)], [Jump(8)])}, [1, 2], 7) == (
        None, []
    )
