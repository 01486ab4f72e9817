"""Arrange the nodes of a walk in order."""

from __future__ import annotations

from depyf.bytecode.draft import Draft
from depyf.bytecode.listing import Beyond, Extent, Handler, Instruction, Listing
from depyf.bytecode.walk.node import Emitted, Node


def arrange(draft: Draft, nodes: list[Node]) -> Listing:
    """Return the listing: nodes in the order of the code, each followed by its fallthrough.

    So a called `finally` body follows its call. If control would fall into a node that already has its place, a jump is
    inserted.
    """
    rows = in_order(draft, nodes)
    first = first_instructions(rows, len(nodes))
    handlers: list[Handler] = []
    numbers: dict[tuple[int, int, bool], int] = {}
    instructions = []
    for node, emitted in rows:
        handler = -1
        if node.catch is not None:
            target, depth, lasti = node.catch
            key = (first[target.number], depth, lasti)
            handler = numbers.setdefault(key, len(handlers))
            if handler == len(handlers):
                handlers.append(Handler(*key))
        line = None if node.point.role == "cleanup" else draft.lines[node.point.raw]
        for op, arg, to, raw in emitted:
            offset = draft.raws[raw if raw >= 0 else node.point.raw].offset
            jump = first[to.number] if to is not None else -1
            instructions.append(Instruction(op, arg, jump, offset, line, handler))
    reached = reached_at_last(draft, nodes)
    return Listing(
        draft.code,
        instructions,
        handlers,
        beyond=beyonds(rows, first),
        loops=extents(draft, nodes, first),
        skips=skips(draft, reached),
        has_idle_end=not reached[-1],
    )


def beyonds(rows: list[tuple[Node, list[Emitted]]], first: list[int]) -> dict[int, Beyond]:
    """Return, by the index of a node's last operation, where the compiler wrote code as if it fell through."""
    fallthroughs: dict[int, Beyond] = {}
    position = 0
    for node, emitted in rows:
        position += len(emitted)
        if node.beyond is not None:
            fallthroughs[position - 1] = Beyond(first[node.beyond.number], node.beyond.point.layout.reals)
    return fallthroughs


def reached_at_last(draft: Draft, nodes: list[Node]) -> bytearray:
    """Return by index which raw instructions are truly reachable; the compiler believes that more are."""
    reached, seen = bytearray(len(draft.raws)), bytearray(len(nodes))
    work = [nodes[0]]
    while work:
        node = work.pop()
        if seen[node.number]:
            continue
        seen[node.number] = reached[node.point.raw] = 1
        ways = (node.following, node.catch.target if node.catch is not None else None)
        work += [way for way in ways if way is not None]
        work += [emitted.target for emitted in node.emitted if emitted.target is not None]
    return reached


def skips(draft: Draft, reached: bytearray) -> dict[int, int]:
    """Return the unreachable jumps: by the offset of the instruction after each, the offset of its target."""
    targets: dict[int, int] = {}
    for raw, target in enumerate(draft.targets):
        if target >= 0 and not reached[raw] and [step.op for step in draft.steps[raw]] == ["JUMP"]:
            behind = raw + 1
            while draft.name(behind) == "EXTENDED_ARG":
                behind += 1
            if behind < len(draft.raws):
                targets[draft.raws[behind].offset] = draft.raws[target].offset
    return targets


def extents(draft: Draft, nodes: list[Node], first: list[int]) -> list[Extent]:
    """Return the extents of the loops that the code opens.

    Args:
        draft: the raw instructions, for their offsets.
        nodes: the nodes of the walk.
        first: by node number, the index of the node's first operation in the listing.
    """
    return [
        Extent(draft.raws[node.point.raw].offset, first[entered.number], draft.raws[node.behind].offset)
        for node in nodes
        if node.behind >= 0
        for entered in [node.emitted[0].target if node.emitted else node.following]
        if entered is not None
    ]


def in_order(draft: Draft, nodes: list[Node]) -> list[tuple[Node, list[Emitted]]]:
    """Return the nodes in order, each with its operations and, if needed, a jump."""
    rows = []
    placed = bytearray(len(nodes))
    heads = sorted(nodes, key=lambda node: (place(draft, node), node.number))
    for head in heads:
        node: Node | None = head
        while node is not None and not placed[node.number]:
            placed[node.number] = 1
            emitted = node.emitted
            following = node.following
            if following is not None and placed[following.number]:
                emitted = [*emitted, Emitted("JUMP", None, following)]
            rows.append((node, emitted))
            node = following
    return rows


def place(draft: Draft, node: Node) -> int:
    """Return the sort key of a node: its instruction, or the end for a node that the interpreter adds."""
    return len(draft.raws) if node.point.role == "cleanup" else node.point.raw


def first_instructions(rows: list[tuple[Node, list[Emitted]]], count: int) -> list[int]:
    """Return per node number the index of the first operation at or after it."""
    first = [0] * count
    position = 0
    for node, emitted in rows:
        first[node.number] = position
        position += len(emitted)
    return first
