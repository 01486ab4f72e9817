"""The control flow of a code: successors, bound variables and live variables."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import cached_property

from depyf.bytecode.listing import Instruction, Listing

NO_FALL_THROUGH = frozenset({"JUMP", "RETURN", "RAISE", "RERAISE"})
READS = frozenset({"LOAD_FAST", "DELETE_FAST", "LOAD_FAST_CLEAR"})
WRITES = frozenset({"STORE_FAST", "DELETE_FAST", "LOAD_FAST_CLEAR"})
USES = READS | WRITES


class Flow:
    """The control flow of a listing: successors of each instruction, and facts derived from them.

    Sets of variables are bit masks: see `bit`. Facts that few proofs need are computed on demand.
    """

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        self.instructions = listing.instructions
        self.jumps = [index for index, item in enumerate(self.instructions) if item.target >= 0]
        self.looked_back_to = len(self.instructions)
        self.seen_later: list[int] = []

    @cached_property
    def successors(self) -> list[tuple[int, ...]]:
        """The successors of each instruction if it does not raise, the next one first."""
        return [successors(index, item) for index, item in enumerate(self.instructions)]

    @cached_property
    def handlers(self) -> list[int]:
        """The handler of each instruction, -1 if exceptions leave the code."""
        targets = [*(handler.target for handler in self.listing.handlers), -1]
        return [targets[item.handler] for item in self.instructions]

    @cached_property
    def bit(self) -> dict[str, int]:
        """Each variable's bit."""
        used = [str(item.arg) for item in self.instructions if item.op in USES]
        names = dict.fromkeys((*self.listing.code.parameters, *used))
        return {name: 1 << place for place, name in enumerate(names)}

    @cached_property
    def edges(self) -> list[list[int]]:
        """All successors of each instruction, including its handler."""
        last = len(self.successors)
        return [
            [place for place in (*following, handler) if 0 <= place < last]
            for following, handler in zip(self.successors, self.handlers, strict=True)
        ]

    def predecessors(self) -> list[list[int]]:
        """Return the predecessors of each instruction."""
        before: list[list[int]] = [[] for _ in self.successors]
        for index, followers in enumerate(self.edges):
            for follower in followers:
                before[follower].append(index)
        return before

    def join_points(self) -> frozenset[int]:
        """Return the instructions with several predecessors, and the first instructions of handlers.

        Every entered loop contains one, because its head is reached from outside and from inside the loop.
        """
        instructions = self.instructions
        joins = {handler.target for handler in self.listing.handlers}
        jumped_to: set[int] = set()
        for target in [instructions[index].target for index in self.jumps]:
            if target in jumped_to or not target or instructions[target - 1].op not in NO_FALL_THROUGH:
                joins.add(target)
            jumped_to.add(target)
        return frozenset(joins)

    @cached_property
    def order(self) -> list[int]:
        """Each instruction's number in a topological order, or in a reverse postorder if there are loops."""
        count = len(self.instructions)
        if self.only_goes_on:
            return list(range(count))
        number = [count] * count
        seen, finished = {0}, []
        path = [(0, iter(self.edges[0]))]
        while path:
            index, followers = path[-1]
            for follower in followers:
                if follower not in seen:
                    seen.add(follower)
                    path.append((follower, iter(self.edges[follower])))
                    break
            else:
                finished.append(index)
                path.pop()
        for place, index in enumerate(reversed(finished)):
            number[index] = place
        return number

    @cached_property
    def only_goes_on(self) -> bool:
        """Whether control never jumps backwards."""
        if any(self.instructions[index].target <= index for index in self.jumps):
            return False
        handlers = self.listing.handlers
        last = {item.handler: index for index, item in enumerate(self.instructions)} if handlers else {}
        return not any(handlers[number].target <= index for number, index in last.items() if number >= 0)

    @cached_property
    def bound(self) -> list[int]:
        """The variables that are bound before each instruction on every path.

        A variable that LOAD_FAST_CLEAR clears is excluded: the instruction that restores it may store an unbound one.
        """
        instructions = self.listing.instructions
        everything = (1 << len(self.bit)) - 1
        taken = self.mask(item for item in instructions if item.op == "LOAD_FAST_CLEAR")
        before = [everything] * len(instructions)
        if not instructions:
            return before
        entry = 0
        for name in self.listing.code.parameters:
            entry |= self.bit[name]
        before[0] = entry
        pending = deque(range(len(instructions)))
        queued = [True] * len(instructions)
        while pending:
            index = pending.popleft()
            queued[index] = False
            after = bound_after(before[index], instructions[index], self.bit)
            for place in self.edges[index]:
                at_handler = place == self.handlers[index] and place not in self.successors[index]
                known = before[place] & (before[index] if at_handler else after)
                if place == self.handlers[index]:
                    known &= before[index]
                if known != before[place]:
                    before[place] = known
                    if not queued[place]:
                        queued[place] = True
                        pending.append(place)
        return [known & ~taken for known in before]

    def live(self, place: int) -> int:
        """Return the variables whose value before an instruction may be read later."""
        if not self.only_goes_on:
            return self.live_round[place]
        if place < self.looked_back_to:
            self.look_back_to(place)
        return self.seen_later[place]

    def look_back_to(self, first: int) -> None:
        """Find the live variables from an instruction on, for code without backward jumps: one pass from the end."""
        before = self.seen_later = self.seen_later or [0] * (len(self.instructions) + 1)
        targets = [*(handler.target for handler in self.listing.handlers), -1]
        for index in range(self.looked_back_to - 1, first - 1, -1):
            item = self.instructions[index]
            op = item.op
            needed = 0 if op in NO_FALL_THROUGH else before[index + 1]
            if item.target >= 0:
                needed |= before[item.target]
            if op in USES:
                bit = self.bit[str(item.arg)]
                if op in WRITES:
                    needed &= ~bit
                if op in READS:
                    needed |= bit
            if item.handler >= 0:
                needed |= before[targets[item.handler]]
            before[index] = needed
        self.looked_back_to = first

    @cached_property
    def live_round(self) -> list[int]:
        """The result of `live` for code with backward jumps: a fixed point over the live variables."""
        instructions, predecessors = self.listing.instructions, self.predecessors()
        before = [0] * len(instructions)
        pending = deque(reversed(range(len(instructions))))
        queued = [True] * len(instructions)
        while pending:
            index = pending.popleft()
            queued[index] = False
            item = instructions[index]
            needed = 0
            for place in self.successors[index]:
                if 0 <= place < len(before):
                    needed |= before[place]
            if item.op in WRITES:
                needed &= ~self.bit[str(item.arg)]
            if item.op in READS:
                needed |= self.bit[str(item.arg)]
            if self.handlers[index] >= 0:
                needed |= before[self.handlers[index]]
            if needed != before[index]:
                before[index] = needed
                for place in predecessors[index]:
                    if not queued[place]:
                        queued[place] = True
                        pending.append(place)
        return before

    def mask(self, items: Iterable[Instruction]) -> int:
        """Return the mask of the variables that the instructions name."""
        mask = 0
        for item in items:
            mask |= self.bit[str(item.arg)]
        return mask


def successors(index: int, item: Instruction) -> tuple[int, ...]:
    """Return the successors of an instruction that does not raise, the next one first."""
    after = () if item.op in NO_FALL_THROUGH else (index + 1,)
    return after if item.target < 0 else (*after, item.target)


def bound_after(known: int, item: Instruction, bit: dict[str, int]) -> int:
    """Return the variables bound after an instruction that did not raise.

    Args:
        known: the mask of the variables bound before it.
        item: the instruction.
        bit: the bit of each variable.
    """
    if item.op in ("STORE_FAST", "LOAD_FAST"):
        return known | bit[str(item.arg)]
    if item.op in WRITES:
        return known & ~bit[str(item.arg)]
    return known
