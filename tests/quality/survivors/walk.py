"""Two codes that do the same things that others see, of the same values, on every way.

**The same to whoever looks.** Both codes are walked side by side on values that are not known (`symbols`). What nobody
sees is done by each side alone (`quiet`): moves, numbers that stand in the code, new objects, jumps on what is known.
Then both must stand at the same operation (`loud`), of the same operands, with the same exception being handled; what
it gives is the same on both sides, and so is what it raises, which each side's own handler takes. A test is walked both
ways. Where somebody may look at the variables of the frame, they must all be the same at each operation.

Where the walk comes to a pair of places again, what is known there becomes less: which locations (slots of the stack,
variables that are read later) hold the same value (`meeting`). It ends when nothing becomes less. Places are told apart
by the numbers in the variables that only ever hold numbers of the code, and by which variables are bound: so states of
a dispatcher are followed, and what no state leads to is never walked.

This is told apart from `depyf.verify` by what it knows, which is less, and by who wrote it down: none of that is asked.
It shares the reader and the table of what operations do to the stack.
"""

from __future__ import annotations

import heapq
import itertools
import types
from collections.abc import Iterator

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Instruction, Listing
from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from depyf.verify.flow import Flow
from tests.quality.survivors.instructions import head
from tests.quality.survivors.loud import TRUTH, Way, standing
from tests.quality.survivors.meeting import Key, Met, Names, equal, meet, meeting, rebuilt
from tests.quality.survivors.quiet import step
from tests.quality.survivors.running import LEFT, Fork, Running
from tests.quality.survivors.symbols import NotFollowed, Side, State, Symbols

FRAME_READERS = frozenset({"locals", "vars", "dir", "eval", "exec"})
FRAME_GETTERS = frozenset({"_getframe", "currentframe"})
STEPS_PER_INSTRUCTION = 10
MOST_QUIET = 5_000
GROUPS = frozenset({"CHECK_EG_MATCH", "PREP_RERAISE_STAR"})
Codes = tuple[Code, Code]


def is_same_to_all(codes: tuple[types.CodeType, types.CodeType], harmless: frozenset[str]) -> bool:
    """Return whether nobody can tell two codes apart, nor those inside that others get to see.

    harmless: names of builtins that are only called with arguments here, so that they look at no variables.
    """
    first = read(codes[0]), read(codes[1])
    pending, seen = [first], {(id(first[0]), id(first[1]))}
    try:
        while pending:
            walk = Walk(pending.pop(), harmless)
            walk.run()
            for inner in walk.inside:
                if (id(inner[0]), id(inner[1])) not in seen:
                    seen.add((id(inner[0]), id(inner[1])))
                    pending.append(inner)
    except NotFollowed:
        return False
    return True


class Walk:
    """One walk over two codes. Raises `NotFollowed` where they are not shown to be the same.

    inside: pairs of code inside them, functions of which others get to see.
    """

    def __init__(self, codes: Codes, harmless: frozenset[str]) -> None:
        if head(codes[0]) != head(codes[1]):
            raise NotFollowed
        self.codes = codes
        self.listings = tuple(normalise(code) for code in codes)
        self.flows = tuple(Flow(listing) for listing in self.listings)
        self.numeric = tuple(numeric(listing) for listing in self.listings)
        self.joins = tuple(flow.join_points() for flow in self.flows)
        self.reads_frame = any(reads_frame(listing, harmless) for listing in self.listings)
        if self.reads_frame and shown_order(codes[0], codes) != shown_order(codes[1], codes):
            raise NotFollowed
        self.groups = any(item.op in GROUPS for listing in self.listings for item in listing.instructions)
        self.shown = codes[0].parameters[:1] if any(names_super(listing) for listing in self.listings) else ()
        self.symbols = Symbols()
        self.inside: list[Codes] = []
        self.met: dict[Key, Met] = {}
        self.queue: list[tuple[tuple[int, ...], int, Key]] = []
        self.queued: set[Key] = set()
        self.count = itertools.count()

    def run(self) -> None:
        """Walk until nothing becomes less."""
        pending = self.arrive(self.start())
        for _ in range(STEPS_PER_INSTRUCTION * sum(len(listing.instructions) for listing in self.listings) + 100):
            if pending:
                state = pending.pop()
            elif self.queue:
                key = heapq.heappop(self.queue)[-1]
                self.queued.discard(key)
                state = rebuilt(self.symbols, key, self.met[key])
            else:
                return
            for following in self.follow(state):
                pending += self.arrive(following)
        raise NotFollowed

    def start(self) -> State:
        """Return the state at both entries."""
        given = {name: self.symbols.symbol() for name in self.codes[0].parameters}
        outside = self.symbols.symbol()
        first, second = (Side(0, [], given.copy(), outside) for _ in range(2))
        return State(self.symbols, (first, second))

    def running(self, state: State, number: int) -> Running:
        """Return one side at work."""
        return Running(self.listings[number], state, state.sides[number], self.groups)

    def arrive(self, state: State) -> list[State]:
        """Go on to where both sides do what others see; return the states there, those kept back where ways meet."""
        going: list[State] = []
        for settled in self.settled(state):
            first, second = settled.sides
            if first.place == second.place == LEFT:
                self.demand(settled, [(first.stack[0], second.stack[0])])
            elif LEFT in (first.place, second.place):
                raise NotFollowed
            elif settled.meets:
                self.keep(settled)
            else:
                going.append(settled)
        return going

    def keep(self, state: State) -> None:
        """Add what a state knows to what is known where it stands, and go on from there later if that is less now."""
        live = self.live(0, state.sides[0].place), self.live(1, state.sides[1].place)
        key, known_now = meeting(state, live, self.numeric, self.inside)
        known = self.met.get(key)
        known_now = known_now if known is None else meet(known, known_now, self.symbols.null)
        if known_now != known:
            self.met[key] = known_now
            if key not in self.queued:
                self.queued.add(key)
                order = tuple(flow.order[place] for flow, place in zip(self.flows, key.places))
                heapq.heappush(self.queue, (order, next(self.count), key))

    def settled(self, state: State) -> list[State]:
        """Let both sides do what nobody sees; where no code decides between two ways, both are gone."""
        branches: list[State] = []
        pending = [state]
        steps = iter(range(MOST_QUIET))
        while pending:
            now = pending.pop()
            fork = self.settle(now, 0, steps) or self.settle(now, 1, steps)
            if fork is None:
                branches.append(now)
                continue
            for outcome in self.outcomes(fork):
                branch = now.copy()
                branch.known[fork.term] = outcome
                pending.append(branch)
        return branches

    def settle(self, state: State, number: int, steps: Iterator[int]) -> Fork | None:
        """Let one side do what nobody sees, up to a fork; of both, not more than so many steps."""
        run = self.running(state, number)
        for _ in steps:
            done = step(run)
            state.meets |= run.side.place in self.joins[number]
            if isinstance(done, Fork):
                return done
            if not done:
                return None
        raise NotFollowed

    def outcomes(self, fork: Fork) -> tuple[int, int]:
        """Return what the value of a fork may be."""
        if self.symbols.sort(fork.term) == "maybe":
            return self.symbols.null, self.symbols.symbol()
        return self.symbols.truth[False], self.symbols.truth[True]

    def live(self, number: int, place: int) -> Names:
        """Return the variables of one side that somebody reads later."""
        flow = self.flows[number]
        if self.reads_frame:
            return tuple(flow.bit)
        mask = flow.live(place)
        return tuple(name for name in flow.bit if mask & flow.bit[name] or name in self.shown)

    def follow(self, state: State) -> list[State]:
        """Do what both sides stand at, if it is the same, and return the states behind it."""
        mine, its = (standing(self.running(state, number)) for number in (0, 1))
        if mine.kind != its.kind or len(mine.operands) != len(its.operands) or len(mine.ways) != len(its.ways):
            raise NotFollowed
        handling = state.sides[0].handling, state.sides[1].handling
        self.demand(state, [handling, *zip(mine.operands, its.operands), *self.looked_at(state)])
        if mine.kind != TRUTH:
            state.tested.clear()
        branches = self.caught(state) if mine.raises else []
        for number, pair in enumerate(zip(mine.ways, its.ways)):
            branch = state.copy()
            if mine.kind == TRUTH:
                branch.tested[state.resolve(mine.operands[0])] = number == 0
            self.go(branch, pair)
            branches.append(branch)
        return branches

    def looked_at(self, state: State) -> list[tuple[int, int]]:
        """Return the variables that whoever is called may look at."""
        first, second = (side.variables for side in state.sides)
        names = sorted(first.keys() | second.keys()) if self.reads_frame else self.shown
        null = self.symbols.null
        return [(first.get(name, null), second.get(name, null)) for name in names]

    def demand(self, state: State, pairs: list[tuple[int, int]]) -> None:
        """Demand that values are the same."""
        if not equal(state, pairs, self.inside):
            raise NotFollowed

    def caught(self, state: State) -> list[State]:
        """Return the state behind an exception, if one of the sides handles it."""
        handlers = [self.listings[number].instructions[side.place].handler for number, side in enumerate(state.sides)]
        if max(handlers) < 0:
            return []
        raised, exception = state.copy(), self.symbols.symbol("caught")
        for number, handler in enumerate(handlers):
            self.running(raised, number).throw(handler, exception)
        raised.meets = True
        return [raised]

    def go(self, state: State, ways: tuple[Way, Way]) -> None:
        """Go one way on with both sides; what is new is the same on both."""
        new = [self.symbols.symbol() for pushed in ways[0].pushes if pushed is None]
        if len(new) != sum(pushed is None for pushed in ways[1].pushes):
            raise NotFollowed
        for side, way, joins in zip(state.sides, ways, self.joins):
            given = iter(new)
            del side.stack[len(side.stack) - way.pops :]
            side.stack += [next(given) if pushed is None else pushed for pushed in way.pushes]
            side.place = way.place
            state.meets |= way.place in joins


def shown_order(code: Code, codes: Codes) -> list[str]:
    """Return the variables that both codes have, in the order in which `locals()` shows those of one."""
    shared = set.intersection(*({*code.varnames, *code.cellvars, *code.freevars} for code in codes))
    return [name for name in (*code.varnames, *code.cellvars, *code.freevars) if name in shared]


def names_super(listing: Listing) -> bool:
    """Return whether code may call `super()`, which looks at the first parameter."""
    return any(item.op in ("LOAD_GLOBAL", "LOAD_NAME") and item.arg == "super" for item in listing.instructions)


def reads_frame(listing: Listing, harmless: frozenset[str]) -> bool:
    """Return whether code names what looks at the variables of its caller."""
    for item in listing.instructions:
        name = item.arg[0] if item.op == "LOAD_METHOD" and isinstance(item.arg, tuple) else item.arg
        if item.op in ("LOAD_GLOBAL", "LOAD_NAME") and name in FRAME_READERS - harmless:
            return True
        if item.op in ("LOAD_ATTR", "LOAD_METHOD") and name in FRAME_GETTERS:
            return True
    return False


def numeric(listing: Listing) -> frozenset[str]:
    """Return the variables that are only ever bound to what stands in the code."""
    items = listing.instructions
    names = {str(item.arg) for item in items if item.op == "STORE_FAST"} - set(listing.code.parameters)
    for place, item in enumerate(items):
        if item.op == "STORE_FAST" and not stores_constant(items, place):
            names.discard(str(item.arg))
    return frozenset(names)


def stores_constant(items: list[Instruction], place: int) -> bool:
    """Return whether a constant is what a store binds: `CONST; STORE x`, or `CONST; COPY 1; STORE x; STORE y`."""
    left = 0
    for item in reversed(items[:place]):
        if item.op == "STORE_FAST":
            left += 1
        elif item.op == "COPY" and item.arg == 1:
            left -= 1
        else:
            return item.op == "CONST" and left <= 0
    return False
