"""The nodes of a graph while it is reduced, and how to find them.

Edges and nesting are recorded when nodes are made, and checked on each query: a node that was removed or changed since
is skipped. So no query searches all nodes for a few.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from depyf.bytecode.records import dataclass
from depyf.decompiler.structure.tree import For, If, Item, Jump, Label, Loop, children


@dataclass(slots=True)
class Node:
    """A block, or the result of reducing a region or loop.

    jumps: the unfilled jumps in its items.
    first, last: the lowest and the highest offset of its blocks in the code.
    ends: the labels that `return` reaches from anywhere; empty in a module or class. Also empty if code is in the order
        of the source, because a `return` has its own code there.
    in_order: whether code is in the order of the source.
    tells: whether a `continue` out of a clause with a name differs from the end of the clause.
    implied: the labels of all loops, unless a `continue` differs from the end.
    """

    items: list[Item]
    jumps: list[Jump]
    handler: int
    nest: tuple[int, ...]
    first: int
    last: int
    ends: frozenset[int]
    implied: frozenset[int]
    in_order: bool
    tells: bool

    def only_jump(self) -> Jump | None:
        """Return the jump of a node that consists of one jump, or None."""
        first = self.items[0] if len(self.items) == 1 else None
        return first if isinstance(first, Jump) else None


def find_jumps(items: list[Item]) -> list[Jump]:
    """Return the unfilled jumps that leave items, in source order."""
    jumps = _plain_jumps(items)
    return _outer_jumps(items) if jumps is None else jumps


def _plain_jumps(items: list[Item]) -> list[Jump] | None:
    """Return the jumps of a block whose tests contain only jumps; None if the items are more than a block."""
    jumps: list[Jump] = []
    for item in items:
        if isinstance(item, ast.stmt):
            continue
        for part in [*item.body, *item.orelse] if isinstance(item, If) else (item,):
            if isinstance(part, Jump) and part.body is None:
                jumps.append(part)
            elif not isinstance(part, ast.stmt):
                return None
    return jumps


def _outer_jumps(items: list[Item]) -> list[Jump]:
    jumps: list[Jump] = []
    inner: set[int] = set()
    headers: dict[int, int] = {}
    work: list[tuple[Iterator[Item], int]] = [(iter(items), -1)]
    while work:
        sequence, header = work[-1]
        item = next(sequence, None)
        if item is None:
            work.pop()
            headers[header] = headers.get(header, 0) - 1
        elif isinstance(item, ast.stmt):
            continue
        elif isinstance(item, Jump) and item.body is None:
            if headers.get(item.label, 0) <= 0:
                jumps.append(item)
        elif isinstance(item, Label):
            inner.add(item.label)
        else:
            header = item.header if isinstance(item, (Loop, For)) else -1
            for part in reversed(children(item)):
                work.append((iter(part), header))
                headers[header] = headers.get(header, 0) + 1
    return [jump for jump in jumps if jump.label not in inner]


class NodeTable(dict[int, Node]):
    """Nodes by label."""

    def __init__(self) -> None:
        super().__init__()
        self._protected: dict[int, set[int]] = {}
        self._nested: dict[int, set[int]] = {}
        self._sources: dict[int, set[int]] = {}
        self._targets: dict[int, frozenset[int]] = {}

    def add(self, label: int, node: Node) -> None:
        """Record a new node, or a node with changed jumps."""
        self[label] = node
        self._protected.setdefault(node.handler, set()).add(label)
        for marker in node.nest:
            self._nested.setdefault(marker, set()).add(label)
        self._targets[label] = frozenset([jump.label for jump in node.jumps])
        for target in self._targets[label]:
            self._sources.setdefault(target, set()).add(label)

    def remove(self, labels: Iterable[int]) -> None:
        """Remove nodes."""
        for label in labels:
            del self[label]
            del self._targets[label]

    def protected(self, handler: int) -> set[int]:
        """Return the nodes that a handler protects directly."""
        noted = self._protected.get(handler, set())
        noted -= {label for label in noted if label not in self or self[label].handler != handler}
        return set(noted)

    def nested(self, marker: int) -> set[int]:
        """Return the nodes inside the loop or handler of a marker."""
        noted = self._nested.get(marker, set())
        noted -= {label for label in noted if label not in self or marker not in self[label].nest}
        return set(noted)

    def targets(self, label: int) -> frozenset[int]:
        """Return the labels that a node jumps to."""
        return self._targets[label]

    def sources(self, label: int) -> Iterator[int]:
        """Yield the nodes with a jump to a label."""
        noted = self._sources.get(label, set())
        past: list[int] = []
        try:
            for source in noted:
                if label in self._targets.get(source, ()):
                    yield source
                else:
                    past.append(source)
        finally:
            noted.difference_update(past)
