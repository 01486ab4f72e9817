"""The events of a thread as a tree, and the time that each spends outside nested events.

before: `a` from 0 to 10, `b` from 2 to 5, `c` from 3 to 4
after: `a` has 0 to 2 and 5 to 10 to itself, `b` 2 to 3 and 4 to 5, `c` 3 to 4
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.links.profile.events import Event


@dataclass(slots=True, eq=False)
class Node:
    """An event with its nested events, in order."""

    event: Event
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)

    def ancestors(self) -> Iterator[Node]:
        """Yield the enclosing events, innermost first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time and the innermost event that runs in it, or None."""

    start: int
    end: int
    node: Node | None


def trees(events: Iterable[Event]) -> list[Node]:
    """Return the outermost events of one thread, each with its nested events, all in order of their start."""
    roots: list[Node] = []
    stack: list[Node] = []
    for event in sorted(events, key=lambda event: (event.start, -event.end)):
        while stack and stack[-1].event.end <= event.start:
            stack.pop()
        node = Node(event, stack[-1] if stack else None)
        (stack[-1].children if stack else roots).append(node)
        stack.append(node)
    return roots


def all_nodes(roots: Iterable[Node]) -> Iterator[Node]:
    """Yield all nodes in order, each before its nested nodes."""
    stack = list(roots)[::-1]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.children[::-1])


def spans(roots: list[Node], start: int, end: int) -> list[Span]:
    """Return the innermost event at each moment from `start` to `end`, as stretches without gaps or overlaps.

    Args:
        roots: the outermost events of a thread.
        start: the first moment, in nanoseconds.
        end: the last moment, in nanoseconds.
    """
    found_spans: list[Span] = []
    at = start
    open_nodes: list[Node] = []

    def up_to(moment: int, node: Node | None) -> None:
        nonlocal at
        moment = min(max(moment, start), end)
        if moment > at:
            found_spans.append(Span(at, moment, node))
            at = moment

    for node in all_nodes(roots):
        while open_nodes and open_nodes[-1] is not node.parent:
            closed = open_nodes.pop()
            up_to(closed.event.end, closed)
        up_to(node.event.start, node.parent)
        open_nodes.append(node)
    while open_nodes:
        closed = open_nodes.pop()
        up_to(closed.event.end, closed)
    up_to(end, None)
    return found_spans
