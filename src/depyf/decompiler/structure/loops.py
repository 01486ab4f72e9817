"""Loops of a graph, and the `while` loops whose test the compiler wrote twice.

Before: P: if c: goto B else X     B: ...     Q: ...; if c: goto B else X
After:  P: goto N     N: if c: goto B else X     B: ...     Q: ...; goto N
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from depyf.bytecode.constants import key
from depyf.decompiler.graph.dominators import Dominance, Successors, immediate_dominators
from depyf.decompiler.graph.successors import successors as all_successors
from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.structure.polarity import negated
from depyf.decompiler.structure.tree import If, Item, Jump

if TYPE_CHECKING:
    from depyf.decompiler.structure.node_table import Node


MAX_NESTED = 64
"""The deepest nesting of loops. Python compiles 20 blocks; those of comprehensions, and of tests, are extra."""


class Irreducible(Exception):
    """A loop has several entries, or loops nest deeper than in any source."""


def natural_loops(successors: Successors, entry: int) -> list[tuple[int, set[int]]]:
    """Return headers and blocks of the natural loops reachable from `entry`.

    Raises Irreducible if a loop can be entered elsewhere than at its header, or if loops nest too deep.
    """
    retreating = _retreating(successors, entry)
    if not retreating:
        return []
    idom = immediate_dominators(successors, entry)
    predecessors: dict[int, list[int]] = {}
    for label in idom:
        for target in successors[label]:
            predecessors.setdefault(target, []).append(label)
    loops: dict[int, set[int]] = {}
    dominance = Dominance(idom)
    left = MAX_NESTED * len(idom)
    for source, header in retreating:
        if not dominance.dominates(header, source):
            raise Irreducible(f"the loop at block {header} is also entered elsewhere")
        inside = loops.setdefault(header, {header})
        before = len(inside)
        work = [source]
        while work:
            label = work.pop()
            if label not in inside:
                inside.add(label)
                work.extend(predecessors.get(label, ()))
        left -= len(inside) - before
        if left < 0:
            raise Irreducible(f"loops nest more than {MAX_NESTED} deep")
    return list(loops.items())


def loop_headers(graph: Graph) -> frozenset[int]:
    """Return the blocks that some path returns to."""
    return frozenset(header for _, header in retreating_edges(graph))


def retreating_edges(graph: Graph) -> list[tuple[int, int]]:
    """Return the edges that lead back to a block on their own path, each as two blocks."""
    successors = all_successors(graph)
    for label, targets in successors.items():
        if targets and min(targets) <= label:  # Every cycle has an edge that does not lead to a higher number.
            return _retreating(successors, 0)
    return []


def _retreating(successors: Successors, entry: int) -> list[tuple[int, int]]:
    """Return the edges of a depth-first search that lead to a node still being visited."""
    edges: list[tuple[int, int]] = []
    state = {entry: 1}
    stack = [(entry, iter(successors[entry]))]
    while stack:
        label, rest = stack[-1]
        target = next(rest, None)
        if target is None:
            state[label] = 2
            stack.pop()
        elif state.get(target) == 1:
            edges.append((label, target))
        elif target not in state:
            state[target] = 1
            stack.append((target, iter(successors[target])))
    return edges


def same_tests(nodes: dict[int, Node], labels: list[int], header: int) -> tuple[If | None, list[int]]:
    """Return a test at the end of two or more nodes that decides whether to enter a loop, and those nodes.

    Args:
        nodes: the nodes, by label.
        labels: the nodes that lead to `header`, in order.
        header: the first block of the loop's body.
    """
    tests = [(label, test) for label in labels if (test := _test_before(nodes[label], header)) is not None]
    if len(tests) < 2:
        return None, []
    first = tests[0][1]
    alike = [(label, test) for label, test in tests if _same_test(first, test)]
    if len(alike) < 2:
        return None, []
    return min((test for _, test in alike), key=lambda test: _turns(test.test)), [label for label, _ in alike]


def _turns(test: ast.expr) -> int:
    """Return the number of `not` in a test."""
    return sum(isinstance(node, ast.Not) for node in ast.walk(test))


def _test_before(node: Node, header: int) -> If | None:
    """Return the test that ends a node, if it decides between `header` and another place."""
    last = node.items[-1] if node.items else None
    if not isinstance(last, If) or len(node.jumps) != 2 or not any(jump.label == header for jump in node.jumps):
        return None
    return last


def _same_test(left: If, right: If) -> bool:
    """Return whether two tests lead to the same places for the same reason; one may be the negation of the other."""
    ways = [_goal(arm) for arm in (left.body, left.orelse, right.body, right.orelse)]
    if None in ways:
        return False
    return (ways[:2] == ways[2:] and _evaluates_same(left.test, right.test, turned=False)) or (
        ways[:2] == ways[:1:-1] and _evaluates_same(left.test, right.test, turned=True)
    )


def _goal(arm: list[Item]) -> int | None:
    """Return the target of an arm that only jumps."""
    jump = arm[0] if len(arm) == 1 else None
    return jump.label if isinstance(jump, Jump) and not jump.body else None


def _evaluates_same(left: ast.expr, right: ast.expr, *, turned: bool) -> bool:
    """Return whether two tests evaluate the same, and have the same truth: `x and not b` and `not (not x or b)`.

    Args:
        turned: they have opposite truth instead.
    """
    work = [(left, right, turned)]
    while work:
        a, b, turned = work.pop()
        if isinstance(a, ast.UnaryOp) and isinstance(a.op, ast.Not):
            work.append((a.operand, b, not turned))
        elif isinstance(b, ast.UnaryOp) and isinstance(b.op, ast.Not):
            work.append((a, b.operand, not turned))
        elif isinstance(a, ast.BoolOp) and isinstance(b, ast.BoolOp):
            if (type(a.op) is type(b.op)) == turned or len(a.values) != len(b.values):
                return False
            work.extend((x, y, turned) for x, y in zip(a.values, b.values))
        elif not same_expression(negated(a) if turned else a, b):
            return False
    return True


def same_expression(left: ast.AST, right: ast.AST) -> bool:
    """Return whether two expressions are written the same."""
    work: list[tuple[object, object]] = [(left, right)]
    while work:
        a, b = work.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, ast.AST):
            assert isinstance(b, ast.AST)
            work.extend((getattr(a, name, None), getattr(b, name, None)) for name in a._fields if name != "ctx")
        elif isinstance(a, list):
            assert isinstance(b, list)
            if len(a) != len(b):
                return False
            work.extend(zip(a, b))
        elif key(a) != key(b):
            return False
    return True
