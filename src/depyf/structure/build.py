"""Build the structured tree: reduce regions and loops to single nodes, then place code by dominance.

Innermost first, the blocks of a protected region, of its handler, or of a loop become one node that holds a
structured item. What remains at each level is an acyclic graph; there a node that only one jump reaches is
written at that jump, and a node that several reach is written behind its immediate dominator (Ramsey, "Beyond
Relooper: Recursive Translation of Unstructured Control Flow to Structured Control Flow", 2022).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from depyf.bytecode.code import CO_OPTIMIZED
from depyf.cfg.dominators import reverse_postorder
from depyf.lift.nodes import MatchTest, Temp
from depyf.lift.tac import ForIter, Graph
from depyf.structure.choices import Choices
from depyf.structure.loops import loop_headers, natural_loops, unrotate
from depyf.structure.nodes import items_of
from depyf.structure.place import place
from depyf.structure.polarity import negated
from depyf.structure.regions.recognise import Recognised
from depyf.structure.regions.table import Kind, Region
from depyf.structure.tree import For, If, Item, Jump, Label, Loop, Try, WithBody, children
from depyf.structure.unstructured import Unstructured


@dataclass(slots=True)
class Node:
    """A block, or what a region or loop has become.

    jumps: the unfilled jumps in its items.
    first, last: the lowest and the highest offset of its blocks in the code.
    ends: the labels that `return` leads to from anywhere; none in a module or class, and none where code stands in
        the order of the source, as a `return` has code of its own there.
    headers: the labels of all loops.
    """

    items: list[Item]
    jumps: list[Jump]
    handler: int
    nest: tuple[int, ...]
    first: int
    last: int
    ends: frozenset[int]
    headers: frozenset[int]


def find_jumps(items: list[Item]) -> list[Jump]:
    """Return the unfilled jumps that leave items, in source order."""
    found: list[Jump] = []
    inner: set[int] = set()
    headers: dict[int, int] = {}
    work: list[tuple[Iterator[Item], int]] = [(iter(items), -1)]
    while work:
        sequence, header = work[-1]
        item = next(sequence, None)
        if item is None:
            work.pop()
            headers[header] = headers.get(header, 0) - 1
        elif isinstance(item, Jump) and item.body is None:
            if headers.get(item.label, 0) <= 0:
                found.append(item)
        elif isinstance(item, Label):
            inner.add(item.label)
        else:
            header = item.header if isinstance(item, (Loop, For)) else -1
            for part in reversed(children(item)):
                work.append((iter(part), header))
                headers[header] = headers.get(header, 0) + 1
    return [jump for jump in found if jump.label not in inner]


class Builder:
    """The nodes of a graph, by label."""

    def __init__(
        self,
        graph: Graph,
        recognised: Recognised,
        nest: dict[int, tuple[int, ...]],
        uses: dict[int, int],
        choices: Choices,
    ) -> None:
        self.graph = graph
        self.recognised = recognised
        self.choices = choices
        self.nodes: dict[int, Node] = {}
        self.fresh = len(graph.blocks)
        self.iterators = {block.exit.iterator for block in graph.live() if isinstance(block.exit, ForIter)}
        returns = graph.code.flags & CO_OPTIMIZED and not graph.source_order
        self.ends = frozenset((graph.end,)) if returns else frozenset()
        self.headers = loop_headers(graph)
        for block in graph.live():
            if block.index == graph.end:
                continue
            items = items_of(graph, block, uses)
            if isinstance(block.exit, ForIter):
                items.append(_for(block.index, block.exit))
            self.add(block.index, items, block.handler, nest[block.index], block.offset, block.offset)
        self._forward()

    def add(self, label: int, items: list[Item], handler: int, nest: tuple[int, ...], first: int, last: int) -> Node:
        """Make a node."""
        jumps = find_jumps(items)
        node = self.nodes[label] = Node(items, jumps, handler, nest, first, last, self.ends, self.headers)
        return node

    def _forward(self) -> None:
        """Lead jumps past nodes that hold nothing but a jump: what they pop is implied by where they lead.

        A node that leaves a `for` loop stays: it is a `break`, perhaps behind another loop. So does one that is all
    there is of a protected region: the `pass` of a `with`.
        """
        onward: dict[int, int] = {}
        for label, node in self.nodes.items():
            jump = node.items[0] if len(node.items) == 1 else None
            if isinstance(jump, Jump) and not self._breaks(node, jump.label):
                onward[label] = jump.label
        for node in self.nodes.values():
            for jump in node.jumps:
                if jump.never:
                    continue
                seen = {jump.label}
                around = {-1, *self.recognised.regions.chain(node.handler)}
                while jump.label in onward and onward[jump.label] not in seen:
                    if self.nodes[jump.label].handler not in around:
                        break
                    jump.label = onward[jump.label]
                    seen.add(jump.label)

    def _breaks(self, node: Node, target: int) -> bool:
        outer = self.nodes[target].nest if target in self.nodes else ()
        return any(temp in self.iterators and temp not in outer for temp in node.nest)

    def build(self) -> list[Item]:
        """Return the items of the whole code."""
        for region in self.recognised.regions.regions:
            if region.handler in self.recognised.regions.parent:
                self._reduce_region(region)
        return self._structure(set(self.nodes), 0)

    # -- regions --------------------------------------------------------------------

    def _reduce_region(self, region: Region) -> None:
        graph, handler = self.graph, region.handler
        start = graph.handlers[handler].target
        body = {label for label, node in self.nodes.items() if node.handler == handler}
        if not body:
            return
        prev = {temp for inst in graph.block(start).insts[:1] if inst.op == "PUSH_EXC_INFO" for temp in inst.defs}
        code = {label for label, node in self.nodes.items() if prev & set(node.nest)} | {start}
        entries = self._entries(body)
        if len(entries) != 1 or body & code:
            raise Unstructured(f"a protected region is entered at {len(entries)} places")
        (entry,) = entries
        nest, first = self.nodes[entry].nest, self.nodes[entry].first
        last = max(self.nodes[label].last for label in body | code)
        parent = self.recognised.regions.parent[handler]
        before = self._predecessors().get(entry, ())
        around = any(self.nodes[label].first > first and label not in body for label in before)
        body_items = self._structure(body, entry, loop_outside=around)
        is_star = any(inst.op == "CHECK_EG_MATCH" for inst in graph.block(start).insts)
        item: Item
        with_ = self.recognised.withs.get(handler)
        if with_ is not None:
            item = WithBody(body_items, with_.exit, self._structure(code, start), with_.is_async)
        else:
            handler_items = self._structure(code, start)
            is_finally = handler in self.recognised.finallys
            item = Try(body_items, handler_items, graph.handlers[handler].exc, is_finally, is_star)
        self.add(entry, [item], parent, nest, first, last)

    def _predecessors(self) -> dict[int, set[int]]:
        found: dict[int, set[int]] = {}
        for label, node in self.nodes.items():
            for jump in node.jumps:
                found.setdefault(jump.label, set()).add(label)
        return found

    def _entries(self, body: set[int]) -> set[int]:
        entries = {0} & body
        for label, node in self.nodes.items():
            if label not in body:
                entries.update(jump.label for jump in node.jumps if jump.label in body)
        return entries

    def _remove(self, labels: set[int]) -> None:
        for label in labels:
            del self.nodes[label]

    # -- loops ------------------------------------------------------------------------

    def _structure(self, labels: set[int], entry: int, *, loop_outside: bool = False) -> list[Item]:
        """Turn a set of nodes into items and remove them.

        loop_outside: jumps back to `entry` belong to a loop around all of this.
        """
        skip = entry if loop_outside else -1
        successors = self._successors(labels, skip)
        for header, _ in natural_loops(successors, entry):
            fresh = unrotate(self.nodes, labels, header, self.fresh)
            if fresh is not None:
                self.add(self.fresh, *fresh)
                labels.add(self.fresh)
                self.fresh += 1
        for header, inside in self._loops(labels, entry, skip):
            self._reduce_loop(header, {label for label in inside if label in self.nodes}, labels)
        reached = set(reverse_postorder(self._successors(labels), entry))
        self._remove(labels - reached)
        items = place(self.nodes, reached, entry)
        self._remove(reached)
        return items

    def _successors(self, labels: set[int], skip: int = -1) -> dict[int, list[int]]:
        """Return the edges between these nodes, but for those to `skip`."""
        wanted = labels - {skip}
        return {label: [jump.label for jump in self.nodes[label].jumps if jump.label in wanted] for label in labels}

    def _loops(self, labels: set[int], entry: int, skip: int) -> list[tuple[int, set[int]]]:
        """Return the loops, inner ones first: natural ones, and `for` loops that never come back."""
        loops = dict(natural_loops(self._successors(labels, skip), entry))
        for label in labels:
            header = self._for_of(label)
            if header is not None:
                marker = header.iterator.temp
                inside = {other for other in labels if other != label and marker in self.nodes[other].nest}
                loops[label] = {label} | inside
            elif label in loops:
                self._extend(label, loops[label], labels)
        return sorted(loops.items(), key=lambda loop: (len(loop[1]), -loop[0]))

    def _for_of(self, label: int) -> For | None:
        items = self.nodes[label].items
        return items[-1] if items and isinstance(items[-1], For) and items[-1].header == label else None

    def _extend(self, header: int, inside: set[int], labels: set[int]) -> None:
        """Add to a loop the code that leaves it and lies between its blocks: `if c: f(); break`."""
        last = max(self.nodes[label].last for label in inside)
        if self.graph.source_order:
            last = max(last, self._end_of_loop(header, inside))
        sites: dict[int, list[int]] = {}
        for label, node in self.nodes.items():
            for jump in node.jumps:
                sites.setdefault(jump.label, []).append(label)
        for label in sorted(labels - inside, key=lambda label: self.nodes[label].first):
            if self.nodes[label].first < last and sites.get(label) and all(site in inside for site in sites[label]):
                if self.choices.shared_exits_inside or len(sites[label]) == 1:
                    inside.add(label)

    def _end_of_loop(self, header: int, inside: set[int]) -> int:
        """Return the offset that a loop goes to when the test at its head fails, or -1 where it has none."""
        node = self.nodes[header]
        outside = [jump.label for jump in node.jumps if jump.label not in inside]
        if len(node.items) != 1 or not isinstance(node.items[0], If) or not outside:
            return -1
        exit_ = self.nodes.get(outside[0])
        return exit_.first if exit_ is not None else self.graph.block(outside[0]).offset

    def _reduce_loop(self, header: int, inside: set[int], labels: set[int]) -> None:
        node = self.nodes.get(header)
        if node is None:
            raise Unstructured("loops overlap")
        loop = self._for_of(header)
        nest, handler, offset = node.nest, node.handler, node.first
        last = max(self.nodes[label].last for label in inside)
        if loop is not None:
            body = inside - {header}
            first = loop.body[0]
            assert isinstance(first, Jump)
            if first.label in body:
                loop.body = place(self.nodes, body, first.label)
                self._remove(body)
                labels -= body
            self.add(header, node.items, handler, nest, offset, last)
            return
        items = place(self.nodes, inside, header)
        self._remove(inside)
        labels -= inside - {header}
        self.add(header, [_while(header, items, inside)], handler, nest, offset, last)


def _for(header: int, exit_: ForIter) -> For:
    iterator, value = Temp(temp=exit_.iterator), Temp(temp=exit_.value)
    body: list[Item] = [Jump(exit_.body.target)]
    return For(header, iterator, value, body, exit_.done.target, [Jump(exit_.done.target)], exit_.is_async, exit_.line)


def _while(header: int, items: list[Item], inside: set[int]) -> Loop:
    """Make the loop of the items of its header: with a test, if it begins with one that leaves it."""
    first = items[0] if items else None
    if isinstance(first, If) and not isinstance(first.test, MatchTest):
        for leave, stay in ((first.orelse, first.body), (first.body, first.orelse)):
            jump = leave[0] if len(leave) == 1 else None
            if isinstance(jump, Jump) and jump.body is None and jump.label not in inside:
                test = first.test if leave is first.orelse else negated(first.test)
                return Loop(header, test, [*stay, *items[1:]], jump.label, [jump], first.line)
    return Loop(header, None, items)


__all__ = ["Builder", "Kind", "Label", "Unstructured"]
