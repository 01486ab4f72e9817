"""Dominators of a graph given as successor lists.

Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", 2001.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Successors = Mapping[int, Sequence[int]]


def reverse_postorder(successors: Successors, entry: int) -> list[int]:
    """Return the nodes reachable from `entry`, each before its successors (except for back edges)."""
    order: list[int] = []
    seen = {entry}
    stack = [(entry, reversed(successors[entry]))]
    while stack:
        node, rest = stack[-1]
        for target in rest:
            if target not in seen:
                seen.add(target)
                stack.append((target, reversed(successors[target])))
                break
        else:
            stack.pop()
            order.append(node)
    order.reverse()
    return order


def immediate_dominators(successors: Successors, entry: int, order: list[int] | None = None) -> dict[int, int]:
    """Return the immediate dominator of every node reachable from `entry`; that of `entry` is itself.

    The nodes are returned in reverse postorder. The last predecessor in that order is taken first. Then the walks up
    the tree from a node with many predecessors share their path, instead of all beginning at the bottom.

    Args:
        successors: the successors of each node.
        entry: the node at which every path begins.
        order: the reverse postorder, if it is known.
    """
    order = reverse_postorder(successors, entry) if order is None else order
    number = {node: place for place, node in enumerate(order)}
    predecessors: dict[int, list[int]] = {node: [] for node in order}
    for node in order:
        for target in successors[node]:
            predecessors[target].append(node)
    for sources in predecessors.values():
        if len(sources) > 1:
            sources.reverse()
    idom = {entry: entry}
    changed = True
    while changed:
        changed = False
        is_cyclic = False
        for node in order[1:]:
            new = -1
            for other in predecessors[node]:
                if other not in idom:
                    is_cyclic = True
                    continue
                new = other if new == -1 else _intersect(idom, number, new, other)
            if idom.get(node) != new:
                idom[node] = new
                changed = True
        if not is_cyclic:
            break  # All predecessors of each node were known, so the result is final.
    return idom


def _intersect(idom: dict[int, int], number: dict[int, int], left: int, right: int) -> int:
    while left != right:
        while number[left] > number[right]:
            left = idom[left]
        while number[right] > number[left]:
            right = idom[right]
    return left


class Dominance:
    """Dominance queries in constant time.

    Each node has a range of numbers that contains the ranges of the nodes that it dominates.
    idom: the immediate dominators, in an order in which every node follows its own.
    """

    def __init__(self, idom: Mapping[int, int]) -> None:
        size = dict.fromkeys(idom, 1)
        for node in reversed(idom):
            if idom[node] != node:
                size[idom[node]] += size[node]
        self._first: dict[int, int] = {}
        self._end: dict[int, int] = {}
        free: dict[int, int] = {}
        for node, above in idom.items():
            first = self._first[node] = free[above] if above != node else 0
            self._end[node] = first + size[node]
            free[node] = first + 1
            if above != node:
                free[above] += size[node]

    def dominates(self, dominator: int, node: int) -> bool:
        """Return whether `dominator` lies on every path to `node`."""
        return self._first[dominator] <= self._first[node] < self._end[dominator]
