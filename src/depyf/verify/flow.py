"""Where control goes, which variables are bound there, and which are read later."""

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
    """The control flow of a listing: successors of each instruction, and what follows from them.

    Sets of variables are bit masks over `names`. What many proofs do not ask for is found when it is asked for.
    """

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        instructions = listing.instructions
        self.successors = [
            (index + 1,) if item.target < 0 and item.op not in NO_FALL_THROUGH else successors(index, item)
            for index, item in enumerate(instructions)
        ]
        self.ops = frozenset([item.op for item in instructions])
        targets = [*(handler.target for handler in listing.handlers), -1]
        self.handlers = [targets[item.handler] for item in instructions]
        used = [str(item.arg) for item in instructions if item.op in USES]
        self.names = tuple(dict.fromkeys((*listing.code.parameters, *used)))
        self.bit = {name: 1 << place for place, name in enumerate(self.names)}

    @cached_property
    def edges(self) -> list[list[int]]:
        """Where control can go from each instruction, an exception raised there included."""
        last = len(self.successors)
        return [
            [place for place in (*following, handler) if 0 <= place < last]
            for following, handler in zip(self.successors, self.handlers, strict=True)
        ]

    def predecessors(self) -> list[list[int]]:
        """Return from where control can come to each instruction."""
        found: list[list[int]] = [[] for _ in self.successors]
        for index, followers in enumerate(self.edges):
            for follower in followers:
                found[follower].append(index)
        return found

    def join_points(self) -> frozenset[int]:
        """Return the instructions that control comes to in more than one way, and the first ones of handlers.

        Every loop that is entered has one: control comes to it from outside, and round the loop.
        """
        instructions = self.listing.instructions
        found = {handler.target for handler in self.listing.handlers}
        jumped_to: set[int] = set()
        for target in [item.target for item in instructions if item.target >= 0]:
            if target in jumped_to or not target or instructions[target - 1].op not in NO_FALL_THROUGH:
                found.add(target)
            jumped_to.add(target)
        return frozenset(found)

    @cached_property
    def order(self) -> list[int]:
        """Each instruction's number in a topological order, loops aside; where there are loops, a reverse postorder."""
        count = len(self.successors)
        if self.only_goes_on():
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

    def only_goes_on(self) -> bool:
        """Return whether control never goes back to an instruction that stands before."""
        targets = (item.target for item in self.listing.instructions)
        return all(
            (target < 0 or target > index) and (handler < 0 or handler > index)
            for index, (target, handler) in enumerate(zip(targets, self.handlers))
        )

    @cached_property
    def bound(self) -> list[int]:
        """Per instruction the variables that are bound before it on every path.

        A variable that LOAD_FAST_CLEAR takes away is left out: what puts it back may store an unbound one.
        """
        instructions = self.listing.instructions
        everything = (1 << len(self.names)) - 1
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

    @cached_property
    def live(self) -> list[int]:
        """Per instruction the variables whose value before it some later instruction may see."""
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
        """Return the set of the variables that the instructions name."""
        found = 0
        for item in items:
            found |= self.bit[str(item.arg)]
        return found


def successors(index: int, item: Instruction) -> tuple[int, ...]:
    """Return where control goes from an instruction that does not raise: the next one first."""
    after = () if item.op in NO_FALL_THROUGH else (index + 1,)
    return after if item.target < 0 else (*after, item.target)


def bound_after(known: int, item: Instruction, bit: dict[str, int]) -> int:
    """Return the variables bound after an instruction that did not raise."""
    if item.op in ("STORE_FAST", "LOAD_FAST"):
        return known | bit[str(item.arg)]
    if item.op in WRITES:
        return known & ~bit[str(item.arg)]
    return known
