"""Build the structured tree: reduce regions and loops to single nodes, then place code by dominance.

Innermost first, the blocks of a protected region, of its handler, or of a loop become one node that holds a structured
item. The rest of each level is an acyclic graph. There a node with one incoming jump is written at that jump, and a
node with several is written after its immediate dominator. The method is that of Ramsey, "Beyond Relooper: Recursive
Translation of Unstructured Control Flow to Structured Control Flow", 2022.
"""

from __future__ import annotations

import heapq

from depyf.bytecode.code import CO_OPTIMIZED
from depyf.decompiler.graph.dominators import reverse_postorder
from depyf.decompiler.graph.tac import ForIter, Goto, Graph, Leave, Raise, Return, seeming
from depyf.decompiler.lift.nodes import MatchTest, Temp
from depyf.decompiler.steps import step
from depyf.decompiler.structure.choices import Choices
from depyf.decompiler.structure.extents import Extents
from depyf.decompiler.structure.loops import loop_headers, natural_loops, same_tests
from depyf.decompiler.structure.node_table import Node, NodeTable, find_jumps
from depyf.decompiler.structure.nodes import items_of
from depyf.decompiler.structure.place import place
from depyf.decompiler.structure.polarity import negated
from depyf.decompiler.structure.regions.recognise import Recognised
from depyf.decompiler.structure.regions.table import Kind, Region
from depyf.decompiler.structure.tree import For, If, Item, Jump, Label, Loop, ReraiseStmt, Try, WithBody
from depyf.decompiler.structure.unstructured import Unstructured


def build(
    graph: Graph, recognised: Recognised, nest: dict[int, tuple[int, ...]], uses: dict[int, int], choices: Choices
) -> list[Item]:
    """Return a graph as items.

    Args:
        graph: the graph, without the bookkeeping of handlers.
        recognised: the kinds of the handlers, and the `with` statements.
        nest: by block, the markers around it, the outermost first.
        uses: by temporary, how often the graph reads it.
        choices: the choices between forms that this attempt makes.

    Raises:
        Unstructured: no statement fits the graph.
        Irreducible: a loop has several entries.
    """
    first = graph.block(0)
    if first.handler < 0 and not graph.loops and isinstance(first.exit, (Goto, Return, Raise)):
        if all(edge.target == graph.end for edge in first.exit.edges()):
            return items_of(graph, first, uses)  # The code is one block.
    return Builder(graph, recognised, nest, uses, choices).build()


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
        self.nodes = NodeTable()
        self.fresh = len(graph.blocks)
        self.iterators = {block.exit.iterator for block in graph.live() if isinstance(block.exit, ForIter)}
        returns = graph.code.flags & CO_OPTIMIZED and not graph.source_order
        self.ends = frozenset((graph.end,)) if returns else frozenset()
        self.headers = loop_headers(graph)
        self.tells = any(seeming(block.exit) is not None for block in graph.live())
        self.implied = frozenset() if graph.loops else self.headers
        self.extents = Extents(graph)
        for block in graph.live():
            if block.index == graph.end:
                continue
            items = items_of(graph, block, uses)
            if isinstance(block.exit, ForIter):
                items.append(_for(block.index, block.exit, self.extents.behind_for(block.index)))
            offset = block.insts[0].offset if block.insts else block.offset
            self.add(block.index, items, block.handler, nest[block.index], offset, offset)
        self._forward()

    def add(self, label: int, items: list[Item], handler: int, nest: tuple[int, ...], first: int, last: int) -> None:
        """Add a node to the table.

        Args:
            label: the node's number: the index of its block, or a new number.
            items: the statements and jumps of the node.
            handler: the index of the handler that protects it, or -1.
            nest: the markers around it, the outermost first.
            first: the offset of its first instruction, in bytes.
            last: the offset of its last instruction, in bytes.
        """
        jumps, in_order = find_jumps(items), self.graph.source_order
        node = Node(items, jumps, handler, nest, first, last, self.ends, self.implied, in_order, self.tells)
        self.nodes.add(label, node)

    def _forward(self) -> None:
        """Lead jumps past nodes that only jump: their pops are implied by their targets.

        Some nodes stay. A node that leaves a `for` loop is a `break`, perhaps after another loop, unless the jump to it
        is marked as one. A node may be a whole protected region, such as the `pass` of a `with`. A node may begin a
        loop, or be a `break` or `continue` at an apparent fallthrough.
        """
        onward, breaks = self._only_jumps()
        for label, node in self.nodes.items() if onward else ():
            for jump in node.jumps:
                if not jump.never and jump.label in onward:
                    self._lead_on(node, jump, onward, breaks)
            if self.nodes.targets(label) != {jump.label for jump in node.jumps}:
                self.nodes.add(label, node)

    def _only_jumps(self) -> tuple[dict[int, Jump], set[int]]:
        """Return the nodes that only jump, each with its jump, and those among them that leave a loop."""
        onward: dict[int, Jump] = {}
        breaks: set[int] = set()
        seeming = self._said_behind() if self.graph.source_order else set()
        for label, node in self.nodes.items():
            jump = node.only_jump()
            if jump is None or label in seeming:
                continue
            if jump.explicit or not isinstance(self.graph.block(label).exit, Leave):
                onward[label] = jump
                if self._breaks(node, jump.label):
                    breaks.add(label)
        return onward, breaks

    def _lead_on(self, node: Node, jump: Jump, onward: dict[int, Jump], breaks: set[int]) -> None:
        """Lead one jump of a node past the nodes that only jump."""
        seen = {jump.label}
        leaves = self._breaks(node, jump.label)
        around = {-1, *self.recognised.regions.chain(node.handler)}
        while jump.label in onward and onward[jump.label].label not in seen:
            passed = onward[jump.label]
            behind = onward.get(passed.label, passed)
            says = jump.explicit or passed.explicit or behind.explicit
            if self.nodes[jump.label].handler not in around or (jump.label in breaks and not says):
                break
            if jump.label in breaks and leaves:
                break  # One `break` leaves one loop, and another loop follows.
            leaves = leaves or jump.label in breaks
            jump.label, jump.explicit = passed.label, jump.explicit or passed.explicit
            seen.add(jump.label)

    def _said_behind(self) -> set[int]:
        """Return the nodes that are a `break` or `continue` at an apparent fallthrough."""
        exits: set[int] = set()
        for target in {jump.label for node in self.nodes.values() for jump in node.jumps if jump.never}:
            seen, label = {-1}, target
            while label in self.nodes and label not in seen and (jump := self.nodes[label].only_jump()) is not None:
                if jump.explicit:
                    exits.add(label)
                    break
                seen.add(label)
                label = jump.label
        return exits

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
        body = self.nodes.protected(handler)
        if not body:
            return
        prev = {temp for inst in graph.block(start).insts[:1] if inst.op == "PUSH_EXC_INFO" for temp in inst.defs}
        if not prev:
            raise Unstructured("a handler does not handle its exception")
        code = {start}.union(*(self.nodes.nested(marker) for marker in prev))
        entries = [
            label for label in body if label == 0 or any(other not in body for other in self.nodes.sources(label))
        ]
        if len(entries) != 1 or body & code:
            raise Unstructured(f"a protected region is entered at {len(entries)} places")
        (entry,) = entries
        step("the region of handler {}, blocks {}, becomes one node", handler, sorted(body))
        nest, first = self.nodes[entry].nest, self.nodes[entry].first
        # Handlers are at the end of the code, unless all of it is in the order of the source.
        last = max(self.nodes[label].last for label in (body | code if graph.source_order else body))
        parent = self.recognised.regions.parent[handler]
        before = self.nodes.sources(entry)
        around = any(self.nodes[label].first > first and label not in body for label in before)
        body_items = self._structure(body, entry, loop_outside=around)
        is_star = any(inst.op == "CHECK_EG_MATCH" for inst in graph.block(start).insts)
        handled = self.nodes[start].first if graph.source_order else -1
        item: Item
        with_ = self.recognised.withs.get(handler)
        if with_ is not None:
            item = WithBody(body_items, with_.exit, self._structure(code, start), with_.is_async)
        else:
            is_finally = handler in self.recognised.finallys
            ends = {label for label in code if is_finally and self._raises_again(label, graph.handlers[handler].exc)}
            self.nodes.remove(ends)
            handler_items = [*self._structure(code - ends, start), *(Label(label) for label in sorted(ends))]
            item = Try(body_items, handler_items, graph.handlers[handler].exc, is_finally, is_star)
            item.handled = handled
        self.add(entry, [item], parent, nest, first, last)

    def _raises_again(self, label: int, exc: int) -> bool:
        """Return whether a node is the end of a `finally` body, where the statement implies the re-raise."""
        items = self.nodes[label].items
        return len(items) == 1 and isinstance(items[0], ReraiseStmt) and items[0].exc == exc

    # -- loops ------------------------------------------------------------------------

    def _structure(self, labels: set[int], entry: int, *, loop_outside: bool = False) -> list[Item]:
        """Turn a set of nodes into items and remove them.

        Args:
            loop_outside: jumps back to `entry` belong to a loop around all of this.
        """
        skip = entry if loop_outside else -1
        # If the graph has no loop, its nodes have none, because they stand for connected parts of it.
        for header, _ in natural_loops(self._successors(labels, skip), entry) if self.headers else ():
            self._unrotate(header, labels, entry)
        for header, inside in self._loops(labels, entry, skip):
            self._reduce_loop(header, {label for label in inside if label in self.nodes}, labels)
        items = self._placed(labels, entry)
        self.nodes.remove(labels)
        return items

    def _placed(self, labels: set[int], entry: int) -> list[Item]:
        """Return the items of the nodes that `entry` reaches among them, with their loops reduced."""
        successors = self._successors(labels)
        return place(self.nodes, successors, reverse_postorder(successors, entry))

    def _unrotate(self, header: int, labels: set[int], entry: int) -> None:
        """Join the two copies of a `while` test around the loop body `header`, if there are two."""
        sources = sorted(label for label in self.nodes.sources(header) if label in labels)
        test, alike = same_tests(self.nodes, sources, header)
        if test is None:
            return
        node = self.nodes[alike[0]]
        for label in alike:
            jump = Jump(self.fresh)
            self.nodes[label].items[-1] = jump
            self.nodes[label].jumps = [jump]
            self.nodes.add(label, self.nodes[label])
        # `continue` leads to the first copy of a test that is not joined with the code before the loop.
        bare = {label for label in alike if len(self.nodes[label].items) == 1}
        for other in {source for label in bare for source in self.nodes.sources(label)} & labels:
            for jump in self.nodes[other].jumps:
                jump.label = self.fresh if jump.label in bare else jump.label
            self.nodes.add(other, self.nodes[other])
        self.add(self.fresh, [test], node.handler, node.nest, node.first, node.last)
        labels.add(self.fresh)
        self.fresh += 1

    def _successors(self, labels: set[int], skip: int = -1) -> dict[int, list[int]]:
        """Return the edges between these nodes, except those to `skip`."""
        wanted = labels - {skip}
        return {label: [jump.label for jump in self.nodes[label].jumps if jump.label in wanted] for label in labels}

    def _loops(self, labels: set[int], entry: int, skip: int) -> list[tuple[int, set[int]]]:
        """Return the loops, inner ones first: natural ones, and `for` loops that never jump back."""
        alone = (self.extents.whiles.keys() & labels) - self.headers - ({entry} if entry else set())
        loops = {label: {label} for label in alone}
        if self.headers:
            loops.update(natural_loops(self._successors(labels, skip), entry))
        others = labels - {entry}
        for label in labels:
            header = self._for_of(label)
            if header is not None:
                marker = header.iterator.temp
                loops[label] = {label} | (self.nodes.nested(marker) & labels)
                if entry != label and entry in loops[label]:
                    raise Unstructured("a loop is entered after its head")
            elif label in loops:
                self._extend(label, loops[label], others)
        for inside in loops.values():
            # A `for` loop is nested in another with its whole body, including code that never jumps back.
            fors = [loops[other] for other in inside if self._for_of(other) is not None]
            inside.update(*fors)
        return sorted(loops.items(), key=lambda loop: (len(loop[1]), -loop[0]))

    def _for_of(self, label: int) -> For | None:
        items = self.nodes[label].items
        return items[-1] if items and isinstance(items[-1], For) else None

    def _extend(self, header: int, inside: set[int], labels: set[int]) -> None:
        """Add to a loop the code that leaves it and lies between its blocks: `if c: f(); break`.

        The target of an apparent fallthrough lies there too: after the last statement of a loop it is the loop's head.
        """
        last = max(self.nodes[label].last for label in inside)
        if self.graph.source_order:
            last = max(last, self._end_of_loop(header, inside))
        exits = {label for site in inside for label in self.nodes.targets(site)} - inside
        outside = [(self.nodes[label].first, label) for label in exits & labels]
        heapq.heapify(outside)
        before = (-1, -1)
        while outside:
            next_ = heapq.heappop(outside)
            label = next_[1]
            if next_ <= before or (next_[0] >= last and not self._is_next(inside, label)):
                continue
            before = next_
            jumps = self._jumps_from(header, inside, label)
            if self._leaves_with(inside, label):
                continue
            if jumps == 1 or (jumps and self.choices.shared_exits_inside):
                inside.add(label)
                for target in (self.nodes.targets(label) & labels) - inside:
                    heapq.heappush(outside, (self.nodes[target].first, target))
        self._take_ends(header, inside, labels)

    def _leaves_with(self, inside: set[int], label: int) -> bool:
        """Return whether only a `break` in a `with` leads to code: the code after the `with` continues elsewhere."""
        sources = [site for site in self.nodes.sources(label) if site in inside]
        if len(sources) != 1 or self.nodes[label].only_jump() is not None:
            return False
        items = self.nodes[sources[0]].items
        return isinstance(items[-1], WithBody) and len(self.nodes.targets(sources[0])) > 1

    def _take_ends(self, header: int, inside: set[int], labels: set[int]) -> None:
        """For a loop with several exits, add those that end control, as `if c: raise` does."""
        left = {label for site in inside for label in self.nodes.targets(site)} - inside
        for label in sorted(left & labels) if len(left) > 1 else ():
            is_end = not self.nodes[label].jumps and label not in self.nodes.targets(header)
            if is_end and self._jumps_from(header, inside, label) == 1:
                inside.add(label)

    def _is_next(self, inside: set[int], label: int) -> bool:
        """Return whether the apparent fallthrough of one of these nodes is a label."""
        sources = self.nodes.sources(label)
        jumps = [jump for site in sources if site in inside for jump in self.nodes[site].jumps]
        return any(jump.never and jump.label == label for jump in jumps)

    def _jumps_from(self, header: int, inside: set[int], label: int) -> int:
        """Count the jumps from a loop to a label; 0 if some come from elsewhere.

        If another loop begins there, behind the head of this one, its own jumps back do not count.
        """
        count = 0
        is_joined_test = label >= len(self.graph.blocks)
        is_head = is_joined_test or label in self.headers or self._for_of(label) is not None
        first = self.nodes[label].first
        begins = is_head and first > self.nodes[header].first
        for site in self.nodes.sources(label):
            if site in inside:
                count += sum(jump.label == label for jump in self.nodes[site].jumps)
            elif not begins or self.nodes[site].first < first:
                return 0
        return count

    def _end_of_loop(self, header: int, inside: set[int]) -> int:
        """Return the offset after the body of a loop, where it goes if the test at its head fails; else -1."""
        node = self.nodes[header]
        outside = [jump.label for jump in node.jumps if jump.label not in inside]
        if len(node.items) != 1 or not isinstance(node.items[0], If) or not outside:
            return self.extents.behind_while(header)
        exit_ = self.nodes.get(outside[0])
        return exit_.first if exit_ is not None else self.graph.block(outside[0]).offset

    def _reduce_loop(self, header: int, inside: set[int], labels: set[int]) -> None:
        node = self.nodes.get(header)
        if node is None:
            raise Unstructured("loops overlap")
        loop = self._for_of(header)
        step("the loop of block {}, blocks {}, becomes one node", header, sorted(inside))
        nest, handler, offset = node.nest, node.handler, node.first
        last = max(self.nodes[label].last for label in inside)
        if loop is not None:
            body = inside - {header}
            first = loop.body[0]
            assert isinstance(first, Jump)
            if first.label in body:
                loop.body = self._placed(body, first.label)
                self.nodes.remove(body)
                labels -= body
            self.add(header, node.items, handler, nest, offset, last)
            return
        items = self._placed(inside, header)
        self.nodes.remove(inside)
        labels -= inside - {header}
        item = _while(header, items, inside, self.extents.behind_while(header))
        self.add(header, [item], handler, nest, offset, last)


def _for(header: int, exit_: ForIter, behind: int) -> For:
    iterator, value = Temp(temp=exit_.iterator), Temp(temp=exit_.value)
    body: list[Item] = [Jump(exit_.body.target)]
    done = exit_.done.target
    return For(header, iterator, value, body, done, [Jump(done)], behind, exit_.is_async, exit_.line)


def _while(header: int, items: list[Item], inside: set[int], behind: int) -> Loop:
    """Make a loop from the items of its header, with a test if the items begin with one that leaves the loop."""
    first = items[0] if items else None
    if isinstance(first, If) and not isinstance(first.test, MatchTest):
        for leave, stay in ((first.orelse, first.body), (first.body, first.orelse)):
            jump = leave[0] if len(leave) == 1 else None
            if isinstance(jump, Jump) and jump.label not in inside:
                test = first.test if leave is first.orelse else negated(first.test)
                return Loop(header, test, [*stay, *items[1:]], jump.label, [jump], behind, first.line)
    return Loop(header, None, items, behind=behind)


__all__ = ["Builder", "Kind", "Label", "Unstructured"]
