"""Blocks that are one expression, and where tests lead."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.graph.tac import Branch, Edge
from depyf.decompiler.lift.nodes import IMPURE, Entry
from depyf.decompiler.structure.arms import Arm, computes, folded, negates_second, same_edge, turned_round
from depyf.decompiler.structure.collapse import count_uses
from tests.decompiler.folding import graph_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b): return g")


def test_a_test_that_is_turned_round() -> None:
    test = Branch(1, Edge(2), Edge(3), 7, True)
    assert turned_round(test) == Branch(1, Edge(3), Edge(2), 7, False)
    assert turned_round(Branch(1, Edge(2), Edge(3), 7, None)).near is None


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (Edge(1, [2, 3]), Edge(1, [2, 3]), True),
        (Edge(1, [2, 8]), Edge(1, [2, 9]), True),
        (Edge(1, [2, 9]), Edge(1, [2, 8]), False),
        (Edge(1, [2, 8]), Edge(1, [2, 7]), False),
        (Edge(1, [2, 7]), Edge(1, [2, 9]), False),
        (Edge(1, [2, 3]), Edge(1, [2, 4]), False),
        (Edge(1, [2, 3]), Edge(4, [2, 3]), False),
    ],
)
def test_edges_with_the_values_that_are_tested(first: Edge, second: Edge, same: bool) -> None:
    assert same_edge(first, 8, second, 9) == same


def arm(rows: str) -> str:
    """Return the expression of a block, `nothing` if it has none, and `more` if it is more."""
    graph = graph_of(f"block 0; {rows}; v99 = CALL () v5; return v99", CODE)
    block = graph.block(0)
    uses = count_uses(graph)
    block.insts.pop()
    copies = folded(graph, uses, block)
    return "more" if copies is None else "nothing" if copies.entry is None else ast.unparse(plain(copies.entry.expr))


def plain(expr: ast.expr) -> ast.expr:
    for node in ast.walk(expr):
        if isinstance(node, ast.Name):
            node.__class__ = ast.Name
    return expr


@pytest.mark.parametrize(
    ("rows", "given"),
    [
        ("v5 = LOAD_FAST 'a'", "a"),
        ("v1 = LOAD_FAST 'a'; v5 = UNARY '-' v1", "-a"),
        ("POP v7", "nothing"),
        ("v1 = LOAD_FAST 'a'; v2 = CALL () v1; v5 = LOAD_FAST 'b'; POP v2", "more"),
        ("v1 = LOAD_FAST 'a'; STORE_FAST 'b' v1; v5 = LOAD_FAST 'b'", "more"),
        ("v5 = LOAD_FAST 'a'; STORE_FAST 'b' v5", "(b := a)"),
        ("v1 = LOAD_FAST 'a'; v5 = INPLACE '+' v1 v7", "more"),
        ("v5 = LOAD_FAST 'a'; v6 = LOAD_FAST 'b'", "more"),
    ],
)
def test_a_block_that_is_one_expression(rows: str, given: str) -> None:
    assert arm(rows) == given


def test_the_value_of_an_arm() -> None:
    block = graph_of("block 0; return", CODE).block(0)
    held = Arm(block, Entry(5, ast.Constant(value=1), IMPURE, frozenset(), frozenset(), 1, None))
    assert computes(held, 5) and not computes(held, 6)
    assert not computes(Arm(block, None), 5)


@pytest.mark.parametrize(
    ("first", "other", "later", "near", "second"),
    [
        ("a in b", "c", 1, None, True),
        ("a", "c is d", 1, None, False),
        ("a", "c", 1, False, True),
        ("a", "c", 1, True, False),
        ("a", "c", 1, None, False),
        ("a", "c", 0, False, False),
        ("a", "c", 0, True, True),
        ("a in b", "c in b", 0, True, True),
    ],
)
def test_which_opposite_test_is_negated(first: str, other: str, later: int, near: bool | None, second: bool) -> None:
    graph = graph_of("block 0; -> 2 if v0 else 3\nblock 1; -> 2 if v1 else 3", CODE)
    arms = []
    for number, source in ((1 - later, first), (later, other)):
        block = graph.block(number)
        assert isinstance(block.exit, Branch)
        block.exit.near = near
        expr = ast.parse(source, mode="eval").body
        arms.append(Arm(block, Entry(number, expr, IMPURE, frozenset(), frozenset(), 1, None)))
    assert negates_second(*arms) == second
