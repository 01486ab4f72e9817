"""EQUIVALENT: walk both codes in step over symbolic stacks, variables and fresh containers.

The decision on equivalence defines the observables. Each side runs silently up to its next observable. Then both sides
must be at the same observable, with equal operands. A branch on an unknown truth value follows both ways, and records
the value on each. A later branch on the same value, on either side, then has only one way. At a merge of paths, only
their common facts are kept. If a new path removes a fact, the walk continues from there again. Facts are only ever
removed, so the walk terminates. Code that the walk does not understand is not proven.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from depyf.bytecode.listing import Listing
from depyf.verify.assumptions import Assumptions
from depyf.verify.events import TRUTH_TEST, Event, Outcome, Split, standing
from depyf.verify.exact import Comparison
from depyf.verify.flow import Flow
from depyf.verify.frame import Frame, enter_handler
from depyf.verify.frame_readers import reads_frame, shows_in_one_order
from depyf.verify.join import canonical, meet
from depyf.verify.level import Place
from depyf.verify.lifetimes import outlives
from depyf.verify.own_cells import with_own_cells
from depyf.verify.relate import describe, relate
from depyf.verify.silent import SILENT, Action
from depyf.verify.state import LEAVE, Side, State
from depyf.verify.terms import CAUGHT, NotUnderstood, Sort, Symbol, Term, Terms

VISITS_PER_INSTRUCTION = 40
BINDS_GLOBAL = ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_NAME", "DELETE_NAME")
Key = tuple[int, int]


def bisimulate(original: Flow, candidate: Flow, assumptions: Assumptions) -> Comparison:
    """Prove that both listings have the same observables with the same operands on every path.

    Visits at most a number of instructions that is linear in the length of the code, then gives up.

    Args:
        original: the original code.
        candidate: the code compiled from the source.
        assumptions: what is known about globals.
    """
    walk = Bisimulation(*with_own_cells(original, candidate), assumptions)
    try:
        walk.run()
    except NotUnderstood as error:
        walk.result.reason = walk.place_text(str(error))
        walk.result.where = Place(original.listing.code, candidate.listing.code, *walk.places)
    return walk.result


class Bisimulation:
    """One proof.

    table: the known facts for each pair of places where paths meet.
    alone: for each such pair, the pairs from which the walk arrived without a common observable. A cycle of these would
        let one side loop forever while the other continues or stops.
    """

    def __init__(self, original: Flow, candidate: Flow, assumptions: Assumptions) -> None:
        self.flows = original, candidate
        self.listings = original.listing, candidate.listing
        self.lengths = assumptions.sequence_lengths
        self.in_place = assumptions.in_place
        self.actions = {**SILENT, "LOAD_GLOBAL": unchanging(assumptions, self.listings)}
        self.joins = tuple(flow.join_points() for flow in self.flows)
        self.reads_frame = any(reads_frame(listing) for listing in self.listings)
        self.takes_super = any(takes_super(listing) for listing in self.listings)
        self.terms = Terms()
        self.terms.asks_tracebacks = any(gathers(listing) for listing in self.listings)
        self.result = Comparison()
        self.table: dict[Key, State] = {}
        self.alone: dict[Key, set[Key]] = {}
        self.queue: list[tuple[int, int, Key]] = []
        self.queued: set[Key] = set()
        self.places: Key = (0, 0)
        self.visits = VISITS_PER_INSTRUCTION * (sum(len(listing.instructions) for listing in self.listings) + 8)

    def run(self) -> None:
        """Walk until nothing is left to prove. Raises `NotUnderstood`."""
        if self.reads_frame and not shows_in_one_order(*(listing.code for listing in self.listings)):
            raise NotUnderstood("the variables have another order in locals()")
        if any(renames_functions(listing) for listing in self.listings):
            raise NotUnderstood("functions are made before and after a change of __name__, their module")
        todo = [self.start()]
        while True:
            while todo:
                state = todo.pop()
                self.settle(state)
                if state.met:
                    self.arrive(state)
                else:
                    todo.extend(self.step(state))
            if not self.queue:
                break
            _, _, key = heapq.heappop(self.queue)
            self.queued.discard(key)
            state = self.table[key].copy()
            state.origin, state.joint = key, False
            todo = self.step(state)
        if has_cycle(self.alone):
            raise NotUnderstood("a loop that does nothing observable")

    def start(self) -> State:
        """Return the state at both entries: the same arguments, and the same exception being handled by a caller."""
        names = self.listings[0].code.parameters
        arguments = {name: self.terms.symbol() for name in names}
        outside = self.terms.symbol()
        first, second = (Side(0, [], arguments.copy(), outside) for _ in range(2))
        return State(self.terms, (first, second))

    def frame(self, state: State, number: int) -> Frame:
        """Return the frame of one side."""
        return Frame(self.listings[number], state, state.sides[number])

    def settle(self, state: State) -> None:
        """Run both sides silently up to their next observable."""
        self.terms.begin_moment()
        for number in (0, 1):
            try:
                self.run_silently(self.frame(state, number), number)
            finally:
                self.places = (state.sides[0].place, state.sides[1].place)

    def run_silently(self, frame: Frame, number: int) -> None:
        """Run one side up to its next observable."""
        side, joins, actions = frame.side, self.joins[number], self.actions
        instructions = frame.listing.instructions
        count = len(instructions)
        limit = 4 * count + 1000
        place = side.place
        while place != LEAVE:
            item = frame.item = instructions[place] if place < count else frame.look()
            action = actions.get(item.op)
            if action is None or not action(frame):
                break
            place = side.place
            if place in joins:
                frame.state.met = True
            limit -= 1
            if not limit:
                raise NotUnderstood("a loop that does nothing observable")

    def arrive(self, state: State) -> None:
        """Merge a state into the known facts at its place, and continue from there if a fact was removed."""
        first, second = (side.place for side in state.sides)
        key = (first, second)
        if state.origin is not None and not state.joint:
            self.alone.setdefault(state.origin, set()).add(key)
        state = canonical(state, (self.live(0, first), self.live(1, second)))
        known = self.table.get(key)
        if known is not None:
            self.places = key
            state, is_less = meet(known, state, self.result.nested)
            if not is_less:
                return
        self.table[key] = state
        if key not in self.queued:
            self.queued.add(key)
            heapq.heappush(self.queue, (self.order(0, first), self.order(1, second), key))

    def live(self, number: int, place: int) -> frozenset[str] | None:
        """Return the variables of a side that are read later, or None if code may look at all variables."""
        if self.reads_frame or self.in_place:
            return None
        if place == LEAVE:
            return frozenset()
        flow = self.flows[number]
        mask = flow.live(place)
        always = self.listings[number].code.parameters[:1] if self.takes_super else ()
        return frozenset([name for name, bit in flow.bit.items() if mask & bit]).union(always)

    def order(self, number: int, place: int) -> int:
        """Return the priority of a place: paths that meet must arrive before the walk continues."""
        order = self.flows[number].order
        return order[place] if place != LEAVE else len(order)

    def step(self, state: State) -> list[State]:
        """Execute the observable at which both sides are, and return the successor states."""
        self.visits -= 1
        if not self.visits:
            raise NotUnderstood("the walk takes too many steps")
        first, second = state.sides
        self.places = (first.place, second.place)
        mine = standing(self.frame(state, 0), self.lengths)
        if isinstance(mine, Split):
            return split(state, mine.truth)
        its = standing(self.frame(state, 1), self.lengths)
        if isinstance(its, Split):
            return split(state, its.truth)
        if (mine.kind, mine.operands) != (its.kind, its.operands):
            if self.is_iterator_taken(state, mine, its) or self.is_tested_again(state, mine, its):
                return [state]
        self.compare(state, mine, its)
        self.result.pairs.add(self.places)
        state.joint = True
        state.tested.clear()
        follow = self.exceptions(state, mine, its)
        ways = list(zip(mine.outcomes, its.outcomes, strict=True))
        for number, way in enumerate(ways):
            branch = state if number == len(ways) - 1 else state.copy()
            self.go(branch, way, mine)
            follow.append(branch)
        return follow

    def is_iterator_taken(self, state: State, mine: Event, its: Event) -> bool:
        """Return whether the candidate calls `iter` on the iterator that the original advances.

        The value that the original advances is already an iterator.

        Args:
            state: the state of both codes.
            mine: the observable of the original.
            its: the observable of the candidate.
        """
        if (mine.kind[0], its.kind[0]) != ("FOR_ITER", "GET_ITER") or mine.operands != its.operands:
            return False
        node = self.terms.nodes[mine.operands[0]]
        if not isinstance(node, Symbol) or node.sort in (Sort.MAYBE, Sort.LOST):
            return False
        state.bound[mine.operands[0]] = self.terms.symbol(Sort.ITERATOR)
        return True

    def is_tested_again(self, state: State, mine: Event, its: Event) -> bool:
        """Return whether one side alone repeats the last truth test of a value; advance it with the known outcome.

        Args:
            state: the state of both codes.
            mine: the observable of the original.
            its: the observable of the candidate.
        """
        for number, event in enumerate((mine, its)):
            if event.kind[0] == TRUTH_TEST and event.operands[0] in state.tested:
                self.go_one(state, number, event.outcomes[0], (state.resolve(state.tested[event.operands[0]]),))
                return True
        return False

    def compare(self, state: State, mine: Event, its: Event) -> None:
        """Require that two observables are the same.

        Args:
            state: the state of both codes.
            mine: the observable of the original.
            its: the observable of the candidate.

        Raises:
            NotUnderstood: they differ.
        """
        if mine.kind != its.kind or len(mine.operands) != len(its.operands):
            raise NotUnderstood(f"{text(mine)} is not {text(its)}")
        first, second = state.sides
        pairs = [(first.handling, second.handling), *zip(mine.operands, its.operands, strict=True)]
        pairs.extend(self.visible_variables(state))
        reason = relate(state, pairs, self.result.nested)
        if reason is not None:
            raise NotUnderstood(f"{text(mine)}: {reason}")
        # The traceback of a handled exception holds the frame, and through it all variables.
        if self.in_place and mine.outcomes and not self.terms.is_caught(first.handling):
            outliving = outlives(state, (mine.outcomes[0].pops, its.outcomes[0].pops))
            if outliving is not None:
                self.result.outlives = True
                raise NotUnderstood(f"{text(mine)}: {describe(state, outliving)} lives longer")

    def visible_variables(self, state: State) -> list[tuple[Term, Term]]:
        """Return pairs of the variables that code run by an observable may read; unbound ones are null on both."""
        first, second = (side.variables for side in state.sides)
        null = self.terms.null
        names = sorted({*first, *second}) if self.reads_frame else []
        if self.takes_super:
            # A call of `super` without arguments reads the first parameter.
            names.extend(self.listings[0].code.parameters[:1])
        return [(first.get(name, null), second.get(name, null)) for name in names]

    def exceptions(self, state: State, mine: Event, its: Event) -> list[State]:
        """Return the state after an exception, if the observable can raise and a side handles exceptions there.

        Args:
            state: the state of both codes before the observable.
            mine: the observable of the original.
            its: the observable of the candidate.
        """
        if not mine.can_raise:
            return []
        handlers = [self.listings[number].instructions[side.place].handler for number, side in enumerate(state.sides)]
        if max(handlers) < 0:
            return []
        raised = state.copy()
        if mine.settles is not None:
            raised.bound[mine.settles] = self.terms.null
        exception = self.terms.new(CAUGHT)
        for number, handler in enumerate(handlers):
            enter_handler(self.frame(raised, number), handler, exception)
        raised.met = True
        return [raised]

    def go(self, state: State, way: tuple[Outcome, Outcome], event: Event) -> None:
        """Continue on one way from an observable, with the same new symbols on both sides.

        Args:
            state: the state of both codes, which is changed.
            way: the same outcome of the observable on both sides.
            event: the observable of the original.
        """
        given = way[0].results
        results = tuple([self.terms.new(result) for result in given])
        if self.lengths:
            state.private.update([term for term, result in zip(results, given) if result.sort is Sort.SEQUENCE])
        if event.settles is not None:
            state.bound[event.settles] = self.terms.symbol()
        if event.kind[0] == TRUTH_TEST:
            state.tested[state.resolve(event.operands[0])] = results[0]
        for number, outcome in enumerate(way):
            self.go_one(state, number, outcome, results)

    def go_one(self, state: State, number: int, outcome: Outcome, results: tuple[Term, ...]) -> None:
        """Continue on one way with one side.

        Args:
            state: the state of both codes, which is changed.
            number: the side: 0 for the original, 1 for the candidate.
            outcome: the outcome of the observable.
            results: the symbols for its results.
        """
        side = state.sides[number]
        if outcome.pops:
            del side.stack[-outcome.pops :]
        side.stack.extend(outcome.pushes(results))
        if outcome.handled >= 0:
            side.handling = results[outcome.handled]
        # An observable that does not advance a side is part of its instruction, so it is no new meeting of paths.
        state.met |= outcome.place != side.place and outcome.place in self.joins[number]
        side.place = outcome.place

    def place_text(self, reason: str) -> str:
        """Return a reason with the places that the walk had reached."""
        texts = []
        for listing, place in zip(self.listings, self.places, strict=True):
            if 0 <= place < len(listing.instructions):
                item = listing.instructions[place]
                texts.append(f"offset {item.offset} {item.op}")
            else:
                texts.append("the end")
        return f"{reason} (original {texts[0]}, candidate {texts[1]})"


def has_cycle(links: dict[Key, set[Key]]) -> bool:
    """Return whether the links contain a cycle."""
    before = dict.fromkeys(links, 0)
    for target in (target for targets in links.values() for target in targets):
        before[target] = before.get(target, 0) + 1
    work = [key for key, count in before.items() if not count]
    left = len(before)
    while work:
        left -= 1
        for target in links.get(work.pop(), ()):
            before[target] -= 1
            if not before[target]:
                work.append(target)
    return left > 0


def unchanging(assumptions: Assumptions, listings: Sequence[Listing]) -> Action:
    """Return an action that loads a global assumed not to change, unless one of the listings binds or deletes it."""
    names = assumptions.unchanging
    if names:
        items = (item for listing in listings for item in listing.instructions)
        names -= {item.arg for item in items if item.op in ("STORE_GLOBAL", "DELETE_GLOBAL")}

    def load(frame: Frame) -> bool:
        if frame.item.arg not in names:
            return False
        frame.push(frame.terms.pure("global", (), str(frame.item.arg)))
        return frame.next()

    return load


def split(state: State, truth: Term) -> list[State]:
    """Return the states in which a truth value is true and false."""
    other = state.copy()
    state.bound[truth] = state.terms.true
    other.bound[truth] = state.terms.false
    return [other, state]


def renames_functions(listing: Listing) -> bool:
    """Return whether code makes functions and also binds `__name__`, which each function copies when it is made."""
    if "__name__" not in listing.code.names:
        return False
    makes_functions = any(item.op == "MAKE_FUNCTION" for item in listing.instructions)
    return makes_functions and any(item.arg == "__name__" and item.op in BINDS_GLOBAL for item in listing.instructions)


def gathers(listing: Listing) -> bool:
    """Return whether code ends an `except*`, which groups exceptions with the same traceback."""
    return "PREP_RERAISE_STAR" in [item.op for item in listing.instructions]


def takes_super(listing: Listing) -> bool:
    """Return whether the code may call `super()`, under any name, in a frame that has a `__class__` cell."""
    if "__class__" in listing.code.freevars:
        return True
    return "super" in listing.code.names and any(item.arg == "super" for item in listing.instructions)


def text(event: Event) -> str:
    """Return a short text for an observable in a message."""
    words = [part[1] if isinstance(part, tuple) and len(part) == 2 else part for part in event.kind]
    return " ".join(str(word) for word in words if word not in ((), None))
