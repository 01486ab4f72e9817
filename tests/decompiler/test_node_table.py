"""The nodes of a graph while it is reduced: the jumps that leave their items, and how nodes are found."""

from __future__ import annotations

import pytest

from depyf.decompiler.show.read_tree import read_tree
from depyf.decompiler.structure.node_table import Node, NodeTable, find_jumps
from depyf.decompiler.structure.tree import Jump
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")


@pytest.mark.parametrize(
    ("items", "labels"),
    [
        ("a()\n", []),
        ("a()\ngoto 1\n", [1]),
        ("if a:\n    goto 1\nelse:\n    goto 2\n", [1, 2]),
        ("if a:\n    b()\n    goto 1\ngoto 2\n", [1, 2]),
        ("if a:\n    if b:\n        goto 3\n    goto 1\nelse:\n    goto 2\n", [3, 1, 2]),
        ("goto 1\nlabel 1:\ngoto 2\n", [2]),
        ("loop 1:\n    a()\n    goto 1\ngoto 1\n", [1]),
        ("loop 1:\n    a()\n    goto 2\ngoto 1\n", [2, 1]),
    ],
)
def test_the_jumps_that_leave_items(items: str, labels: list[int]) -> None:
    assert [jump.label for jump in find_jumps(read_tree(items, CODE, are_items=True))] == labels


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_jump_that_is_filled_leaves_nothing(is_alone: bool) -> None:
    items = read_tree("goto 1\ngoto 2\n" if is_alone else "goto 1\ngoto 2\nlabel 3:\n", CODE, are_items=True)
    assert isinstance(items[0], Jump)
    items[0].body = []
    assert [jump.label for jump in find_jumps(items)] == [2]


def node(items: str, handler: int = -1, nest: tuple[int, ...] = ()) -> Node:
    tree = read_tree(items, CODE, are_items=True)
    return Node(tree, find_jumps(tree), handler, nest, 0, 0, frozenset(), frozenset(), False, False)


def test_the_only_jump_of_a_node() -> None:
    jump = node("goto 1\n").only_jump()
    assert jump is not None and jump.label == 1
    assert node("a()\n").only_jump() is None
    assert node("goto 1\ngoto 2\n").only_jump() is None


def test_nodes_are_found_by_what_is_around_them_and_by_their_jumps() -> None:
    table = NodeTable()
    table.add(1, node("goto 2\n", 5, (7,)))
    table.add(2, node("if a:\n    goto 1\nelse:\n    goto 3\n", 5, (7, 8)))
    table.add(3, node("a()\n"))
    assert (table.protected(5), table.protected(-1), table.protected(6)) == ({1, 2}, {3}, set())
    assert (table.nested(7), table.nested(8), table.nested(9)) == ({1, 2}, {2}, set())
    assert (table.targets(2), table.targets(3)) == ({1, 3}, set())
    assert ([*table.sources(1)], [*table.sources(2)], [*table.sources(9)]) == ([2], [1], [])


def test_a_node_is_not_found_as_it_was() -> None:
    table = NodeTable()
    table.add(1, node("goto 2\n", 5, (7,)))
    table.add(2, node("goto 1\n", 5, (7,)))
    table.add(1, node("goto 3\n", 6, (8,)))
    assert (table.protected(5), table.nested(7)) == ({2}, {2})
    assert (list(table.sources(2)), list(table.sources(3))) == ([], [1])
    table.remove([2])
    assert (table.protected(5), table.nested(7), list(table.sources(1)), sorted(table)) == (set(), set(), [], [1])
