"""Dominators of a graph given as successor lists.

Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", 2001.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Successors = Mapping[int, Sequence[int]]


def reverse_postorder(successors: Successors, entry: int) -> list[int]:
    """Return the nodes reachable from `entry`, each before its successors (back edges aside)."""
    order: list[int] = []
    seen = {entry}
    stack = [(entry, list(successors[entry]))]
    while stack:
        node, rest = stack[-1]
        if rest:
            target = rest.pop()
            if target not in seen:
                seen.add(target)
                stack.append((target, list(successors[target])))
        else:
            stack.pop()
            order.append(node)
    order.reverse()
    return order


def immediate_dominators(successors: Successors, entry: int) -> dict[int, int]:
    """Return the immediate dominator of every node reachable from `entry`; that of `entry` is itself."""
    order = reverse_postorder(successors, entry)
    number = {node: place for place, node in enumerate(order)}
    predecessors: dict[int, list[int]] = {node: [] for node in order}
    for node in order:
        for target in successors[node]:
            predecessors[target].append(node)
    idom = {entry: entry}
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            new = -1
            for other in predecessors[node]:
                if other not in idom:
                    continue
                new = other if new == -1 else _intersect(idom, number, new, other)
            if idom.get(node) != new:
                idom[node] = new
                changed = True
    return idom


def _intersect(idom: dict[int, int], number: dict[int, int], one: int, two: int) -> int:
    while one != two:
        while number[one] > number[two]:
            one = idom[one]
        while number[two] > number[one]:
            two = idom[two]
    return one


def dominates(idom: Mapping[int, int], one: int, two: int) -> bool:
    """Say whether `one` lies on every way to `two`."""
    while two != one and idom[two] != two:
        two = idom[two]
    return two == one
