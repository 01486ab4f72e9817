"""Convert a listing to three-address code: run the stack with names for values.

Each reachable block is executed once on a symbolic stack. A block with several predecessors begins with a phi for every
stack position. Phis whose arguments are all one value are then removed (Braun et al. 2013, section 3.1).
"""

from __future__ import annotations

from itertools import takewhile
from operator import ne
from typing import cast

from depyf.bytecode.listing import Instruction, Listing
from depyf.decompiler.graph.blocks import Span, split
from depyf.decompiler.graph.tac import (
    KEEP,
    NULL,
    Block,
    Branch,
    Edge,
    Exit,
    ForIter,
    Goto,
    Graph,
    HandlerEntry,
    Inst,
    Leave,
    Raise,
    Reraise,
    Return,
)
from depyf.decompiler.lift.bound import unsure_reads
from depyf.decompiler.lift.callees import settle_callees
from depyf.decompiler.lift.guarded import note_guarded
from depyf.decompiler.lift.keep import drop_unread, take_kept
from depyf.decompiler.lift.machine import Machine
from depyf.decompiler.lift.phis import part_loop_entries, remove_trivial_phis
from depyf.decompiler.steps import step
from depyf.errors import DecompilationError

STATEMENTS = ("break", "continue")
TESTS = frozenset({"JUMP_IF_TRUE", "JUMP_IF_FALSE"})
CONTROL = frozenset({"JUMP", "JUMP_IF_TRUE", "JUMP_IF_FALSE", "FOR_ITER", "RETURN", "RAISE", "RERAISE"})


def lift(listing: Listing, first_temp: int = 0, *, restores: bool = False) -> Graph:
    """Return the three-address code of a listing.

    Args:
        listing: the instructions of one code object.
        first_temp: the number of the graph's first temporary.
        restores: whether to keep the value that POP_EXCEPT pops; in source it is implied.

    Raises:
        DecompilationError: the stack underflows, a block is reached with different stack depths, or the code runs off
            its end.
    """
    if not listing.instructions:
        raise DecompilationError("the code has no instructions", code=str(listing.code), offset=0)
    step("{} operations are executed on a symbolic stack", len(listing.instructions))
    lifter = _Lifter(listing, first_temp)
    while lifter.work:
        lifter.block(lifter.work.pop())
    if any(lifter.phis.values()):
        remove_trivial_phis(lifter.graph, lifter.handler_args)
        part_loop_entries(lifter.graph)
    take_kept(lifter.graph)
    blocks = lifter.graph.live() if restores else []
    drop_unread(lifter.graph, {inst.uses[0] for block in blocks for inst in block.insts if inst.op == "POP_EXCEPT"})
    settle_callees(lifter.graph, lifter.machine.calls)
    split_loop_edges(lifter.graph, lifter.iterating)
    lifter.graph.unsure = unsure_reads(lifter.graph)
    _note_waiting(lifter.graph, lifter.branching)
    note_guarded(lifter.graph, listing, [span.end for span in lifter.spans])
    return lifter.graph


def _note_waiting(graph: Graph, branching: list[int]) -> None:
    """Record the stack at each test: the initial stack of its targets, without phis."""
    for index in sorted(branching):
        exit_ = graph.block(index).exit
        assert isinstance(exit_, Branch)
        target = graph.block(exit_.if_false.target)
        values = dict(zip(target.phis, exit_.if_false.args))
        graph.waiting[exit_.cond] = [values.get(temp, temp) for temp in target.stack]
        if target.stack and (parted := _parted(graph, exit_)):
            graph.parting[exit_.cond] = parted


def _parted(graph: Graph, exit_: Branch) -> set[int]:
    """Return the values that both ways on from a test drop, each in code of its own.

    The compiler copies a short end of a function. Such copies have one source location; it is not that of the drop.
    """
    ways = [_dropping(graph, edge.target) for edge in exit_.edges()]
    shared = {block.index for block in ways[0]}.intersection(block.index for block in ways[1])
    drops = [_last_drops([block for block in way if block.index not in shared]) for way in ways]
    parted = {temp for temp in drops[0] if temp in drops[1]}
    if shared or not parted:
        return parted
    ends = [next((inst for inst in way[-1].insts if inst.op != "POP"), None) for way in ways]
    places = [graph.place(end.offset) if end is not None else None for end in ends]
    if None in places:
        return set()
    drop = next(graph.place(inst.offset) for block in ways[0] for inst in block.insts if inst.op == "POP")
    return parted if places[0] != places[1] or places[0] == drop else set()


def _last_drops(way: list[Block]) -> set[int]:
    """Return the values that are no longer on the stack after blocks have dropped them."""
    dropped: set[int] = set()
    for block in way:
        pops = [inst.uses[0] for inst in takewhile(lambda inst: inst.op == "POP", block.insts)]
        dropped.update(temp for temp in pops if pops.count(temp) == block.stack.count(temp))
    return dropped


def _dropping(graph: Graph, index: int) -> list[Block]:
    """Return a block and the blocks after it, up to the first that does more than drop values."""
    way = [graph.block(index)]
    while isinstance(way[-1].exit, Goto) and all(inst.op == "POP" for inst in way[-1].insts):
        block = graph.block(way[-1].exit.edge.target)
        if any(block is earlier for earlier in way):
            break
        way.append(block)
    return way


class _Lifter:
    """State of the walk: the stack on entry and the phis of each reached block.

    branching, iterating: the blocks that end with a test, and those that take the next value of an iterator.
    """

    def __init__(self, listing: Listing, first_temp: int) -> None:
        self.listing = listing
        self.spans, self.span_at = split(listing)
        self.graph = Graph(listing.code, [None] * len(self.spans), [], first_temp, listing.source_order)
        self.graph.exact_ranges = listing.exact_ranges
        self.graph.negates = listing.negates
        self.graph.places = listing.places
        self.graph.loops = [loop._replace(start=self.span_at[loop.start]) for loop in listing.loops]
        for handler in listing.handlers:
            self.graph.handlers.append(HandlerEntry(self.span_at[handler.target], NULL, NULL))
        self.merges = _merges(listing, self.spans, self.span_at)
        self.machine = Machine(self.graph)
        self.entry: dict[int, list[int]] = {0: []}
        self.phis: dict[int, list[int]] = {}
        self.work: list[int] = [0]
        self.handler_args: dict[int, list[list[int]]] = {}
        self.kept: list[int] = []
        self.branching: list[int] = []
        self.iterating: list[int] = []

    def block(self, index: int) -> None:
        """Execute a block and reach its successors."""
        span, machine, instructions = self.spans[index], self.machine, self.listing.instructions
        entry = self.entry[index]
        insts = machine.begin(entry)
        stack = list(entry) if self.merges[index] or span.handler >= 0 else entry
        offset = instructions[span.start].offset
        block = Block(index, insts, Return(NULL), span.handler, self.phis.get(index, []), stack, offset)
        self.graph.blocks[index] = block
        self.kept = []
        last = instructions[span.end - 1]
        exits = last.op in CONTROL
        body = instructions[span.start : span.end - exits]
        if span.handler < 0:
            machine.run(body)
        for now in body if span.handler >= 0 else ():
            self._may_raise(span.handler)
            machine.run((now,))
        if exits:
            if span.handler >= 0:
                self._may_raise(span.handler)
            machine.now = last
            block.exit = self._exit(last, index, span.end - 1)
        else:
            block.exit = Goto(self._edge(index + 1))

    def _exit(self, now: Instruction, index: int, position: int) -> Exit:
        machine, op = self.machine, now.op
        if op in TESTS:
            (cond,) = machine.pop(1)
            self.branching.append(index)
            jump, fall = self._edge(self.span_at[now.target]), self._edge(index + 1)
            known = not self._only_goes_back(index + 1, now.line)
            if op == "JUMP_IF_TRUE":
                return Branch(cond, jump, fall, now.line, False if known else None)
            return Branch(cond, fall, jump, now.line, True if known else None)
        if op == "RETURN":
            return Return(machine.pop(1)[0], now.line, None, now.offset)
        if op == "JUMP":
            edge = self._edge(self.span_at[now.target])
            beyond = self._beyond(position)
            return Leave(edge, beyond, now.arg in STATEMENTS) if beyond is not None or now.arg else Goto(edge)
        if op == "FOR_ITER":
            (iterator,) = machine.top(1)
            self.iterating.append(index)
            value = self.graph.new_temp()
            machine.stack.append(value)
            body = self._edge(index + 1)
            machine.pop(2)
            return ForIter(iterator, value, body, self._edge(self.span_at[now.target]), now.line)
        if op == "RAISE":
            return Raise(machine.pop(cast(int, now.arg)), now.line, None, now.offset)
        exc = machine.pop(1)[0]
        return Reraise(exc, self._beyond(position))

    def _only_goes_back(self, index: int, line: int | None) -> bool:
        """Return whether a block is only the backward jump of a test.

        Since 3.12 one follows each test that jumps backwards. A jump on a line of its own is a statement.
        """
        start, end = self.spans[index].start, self.spans[index].end
        only = self.listing.instructions[start]
        return end == start + 1 and only.op == "JUMP" and only.target <= start and only.line in (line, None)

    def _beyond(self, position: int) -> Edge | None:
        """Return the apparent fallthrough of an instruction, or None."""
        beyond = self.listing.beyond.get(position)
        if beyond is None:
            return None
        del self.machine.stack[beyond.depth :]
        return self._edge(self.span_at[beyond.target])

    def _edge(self, target: int) -> Edge:
        """Return the edge to a block, with the present stack."""
        if target >= len(self.spans):
            raise self.machine.error("control runs off the end of the code")
        stack, merges = self.machine.stack, self.merges[target]
        entry = self.entry.get(target)
        if entry is None:
            entry = self.entry[target] = list(stack)
            if merges and stack:
                entry[:] = [self.graph.new_temp() for _ in stack]
                self.phis[target] = entry
            self.work.append(target)
        if len(entry) != len(stack):
            raise self.machine.error(f"a block is reached with {len(entry)} and with {len(stack)} values")
        return Edge(target, list(stack) if merges else [])

    def _may_raise(self, handler: int) -> None:
        """Record the stack at a place where an exception may go to a handler."""
        depth = self.listing.handlers[handler].depth
        held = self.machine.stack[:depth]
        if len(held) < depth:
            raise self.machine.error(f"a handler needs {depth} values, the stack has {len(held)}")
        seen = self.handler_args.get(handler)
        if seen is None:
            seen = self.handler_args[handler] = []
            self._open_handler(handler, depth)
        if not seen or seen[-1] != held:
            seen.append(held)
        self._keep(handler, held)

    def _keep(self, handler: int, held: list[int]) -> None:
        """Make the current stack available to a handler."""
        machine, slots = self.machine, self.graph.handlers[handler].slots
        for place, value in enumerate(held):
            if self.kept[place : place + 1] != [value]:
                machine.insts.append(Inst(KEEP, slots[place], [value], [], machine.now.line, machine.now.offset))
        self.kept = held

    def _open_handler(self, handler: int, depth: int) -> None:
        """Enter a handler's first block; if it has other predecessors, through an empty block before it."""
        facts, entry = self.listing.handlers[handler], self.graph.handlers[handler]
        phis = [self.graph.new_temp() for _ in range(depth)]
        entry.slots = [self.graph.new_temp() for _ in range(depth)]
        entry.phis = list(phis)
        stack = list(phis)
        if facts.lasti:
            entry.lasti = self.graph.new_temp()
            stack.append(entry.lasti)
        entry.exc = self.graph.new_temp()
        stack.append(entry.exc)
        if self.merges[entry.target]:
            present, self.machine.stack = self.machine.stack, stack
            edge = self._edge(entry.target)
            self.machine.stack = present
            before = self.graph.new_block([], Goto(edge), self.spans[entry.target].handler, list(stack))
            before.phis, before.offset = phis, self.listing.instructions[self.spans[entry.target].start].offset
            entry.target = before.index
            return
        self.phis[entry.target] = phis
        self.entry[entry.target] = stack
        self.work.append(entry.target)


def split_loop_edges(graph: Graph, iterating: list[int]) -> None:
    """Put an empty block on each edge with values out of a loop's head: the head is no place to assign them."""
    for index in sorted(iterating):
        block = graph.block(index)
        assert isinstance(block.exit, ForIter)
        for name in ("body", "done"):
            edge = getattr(block.exit, name)
            target = graph.block(edge.target)
            if any(map(ne, target.phis, edge.args)):
                passed = dict(zip(target.phis, edge.args))
                stack = [passed.get(temp, temp) for temp in target.stack]
                between = graph.new_block([], Goto(edge), block.handler, stack)
                setattr(block.exit, name, Edge(between.index))


def _merges(listing: Listing, spans: list[Span], span_at: dict[int, int]) -> list[bool]:
    """Return for each block whether several edges may reach it, including those of handlers."""
    count = [0] * (len(spans) + 1)
    count[0] = 1
    entered: set[int] = set()
    reached, work = {0}, [0]
    while work:
        index = work.pop()
        span = spans[index]
        ways = _ways(listing, span, index, span_at)
        if span.handler >= 0 and span.handler not in entered:
            entered.add(span.handler)
            ways.append(span_at[listing.handlers[span.handler].target])
        for way in ways:
            count[way] += 1
            if way < len(spans) and way not in reached:
                reached.add(way)
                work.append(way)
    return [edges > 1 for edges in count]


def _ways(listing: Listing, span: Span, index: int, span_at: dict[int, int]) -> list[int]:
    """Return the successors of a block, without its handler."""
    last = listing.instructions[span.end - 1]
    ways = [span_at[last.target]] if last.target >= 0 else []
    if last.op not in ("JUMP", "RETURN", "RAISE", "RERAISE"):
        ways.append(index + 1)
    beyond = listing.beyond.get(span.end - 1)
    return ways + ([span_at[beyond.target]] if beyond is not None else [])
