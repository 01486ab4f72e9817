"""Merge the known facts where several paths meet: keep those that hold on all of them."""

from __future__ import annotations

from depyf.bytecode.code import Code
from depyf.verify.relate import relate
from depyf.verify.state import FunctionOf, HeapObject, Side, State, contents, refilled, shape
from depyf.verify.terms import (
    NOTHING,
    Cell,
    Constant,
    Fresh,
    NotUnderstood,
    Null,
    Pure,
    Sort,
    Symbol,
    Term,
    Terms,
    TupleOf,
)


def canonical(state: State, live: tuple[frozenset[str] | None, frozenset[str] | None]) -> State:
    """Return the state with every term resolved, without dead variables and unreachable objects.

    live: for each side the variables to keep, None for all.
    """
    sides = tuple(canonical_side(state, side, names) for side, names in zip(state.sides, live, strict=True))
    first, second = sides
    heap: dict[Term, HeapObject] = {}
    pending = [
        term
        for side in sides
        for term in (*side.stack, *side.variables.values(), side.handling)
        if state.terms.depths[term] or term in state.heap
    ]
    seen = set(pending)
    while pending:
        term = pending.pop()
        node = state.terms.nodes[term]
        inside: tuple[Term, ...] = node.items if isinstance(node, (TupleOf, Pure)) else ()
        item = state.heap.get(term)
        if item is not None:
            inside = tuple(state.resolve(part) for part in contents(item))
            heap[term] = refilled(item, inside)
        for part in inside:
            if part not in seen:
                seen.add(part)
                pending.append(part)
    tested = {state.resolve(value): state.resolve(truth) for value, truth in state.tested.items()}
    return State(state.terms, (first, second), heap, private=state.private.copy(), tested=tested)


def canonical_side(state: State, side: Side, names: frozenset[str] | None) -> Side:
    """Return one side with every term resolved and only some of its variables.

    Args:
        state: the state that the side belongs to.
        side: the side.
        names: the variables to keep; None for all.
    """
    variables = {name: term for name, term in side.variables.items() if names is None or name in names}
    if not state.bound:
        return Side(side.place, side.stack.copy(), variables, side.handling)
    variables = {name: state.resolve(term) for name, term in variables.items()}
    return Side(side.place, [state.resolve(term) for term in side.stack], variables, state.resolve(side.handling))


class Join:
    """The join of two canonical states: the facts that hold in both.

    is_less: whether the old state had more facts.
    conflicts: the fresh objects of the old state, and of the new one, that do not match the other state: it has
        something else in their place, or a fresh object of another shape.

    A pair of an old and a new term becomes one term, the same wherever the pair occurs. So locations are equal in the
    join exactly if they are equal in both states. An old symbol keeps its name for the first new term that it is paired
    with.
    """

    def __init__(self, old: State, new: State) -> None:
        self.old, self.new = old, new
        self.terms: Terms = old.terms
        self.is_less = False
        self.done: dict[tuple[Term, Term], Term] = {}
        self.first_met: dict[Term, Term] = {}
        self.objects: dict[Term, Term] = {}
        self.held_by: dict[Term, Term] = {}
        self.to_fill: list[tuple[Term, Term]] = []
        self.private: set[Term] = set()
        self.conflicts: tuple[set[Term], set[Term]] = (set(), set())

    def state(self) -> State:
        """Return the joined state. Raises `NotUnderstood` if the states differ in more than values."""
        first, second = (self.side(mine, its) for mine, its in zip(self.old.sides, self.new.sides, strict=True))
        heap = self.heap()
        return State(self.terms, (first, second), heap, private=self.private, tested=self.tested())

    def tested(self) -> dict[Term, Term]:
        """Return the truth tests that were done on both paths."""
        tests = {
            self.term(mine, its): self.term(self.old.tested[mine], self.new.tested[its])
            for mine in self.old.tested
            for its in self.new.tested
            if (mine, its) in self.done
        }
        # A test on only one path must still be done on the other.
        self.is_less |= len(tests) < len(self.old.tested)
        return tests

    def side(self, old: Side, new: Side) -> Side:
        """Join one side."""
        if len(old.stack) != len(new.stack):
            raise NotUnderstood("paths meet with stacks of different depth")
        null = self.terms.null
        variables = {}
        stack = [self.term(mine, its) for mine, its in zip(old.stack, new.stack, strict=True)]
        # Values in dead variables are older than values in use. If variables share an object on one path only, the
        # youngest objects keep their known facts.
        for name in sorted({*old.variables, *new.variables}, key=lambda name: (-new.variables.get(name, null), name)):
            term = self.term(old.variables.get(name, null), new.variables.get(name, null))
            if term != null:
                variables[name] = term
        return Side(old.place, stack, variables, self.term(old.handling, new.handling))

    def heap(self) -> dict[Term, HeapObject]:
        """Join the contents of the reachable objects."""
        heap: dict[Term, HeapObject] = {}
        while self.to_fill:
            mine, its = self.to_fill.pop()
            pairs = zip(contents(self.old.heap[mine]), contents(self.new.heap[its]), strict=True)
            heap[mine] = refilled(self.old.heap[mine], tuple(self.term(*pair) for pair in pairs))
        return heap

    def term(self, old: Term, new: Term) -> Term:
        """Join two values."""
        pair = (old, new)
        joined = self.done.get(pair)
        if joined is None:
            joined = self.done[pair] = self.join_nodes(old, new)
        return joined

    def join_nodes(self, old: Term, new: Term) -> Term:
        """Join a new pair of values."""
        nodes = self.terms.nodes[old], self.terms.nodes[new]
        match nodes:
            case (Symbol(), _):
                return self.join_symbol(old, new)
            case (Constant() | Null() | Cell(), _) if old == new:
                return old
            case (TupleOf(items=first), TupleOf(items=second)) if len(first) == len(second):
                return self.terms.tuple_of(self.terms_of(first, second))
            case (Pure(op=a, items=first, detail=c), Pure(op=b, items=second, detail=d)) if (a, c, len(first)) == (
                b,
                d,
                len(second),
            ):
                return self.terms.pure(a, self.terms_of(first, second), c)
            case (Fresh(), Fresh()) if alike(self.old.heap[old], self.new.heap[new]):
                return self.join_objects(old, new)
            case (Fresh(), _):
                # Even with the same name: the object may have changed on the path.
                return self.weaker(old, new)
            case _:
                return old if old == new else self.weaker(old, new)

    def terms_of(self, first: tuple[Term, ...], second: tuple[Term, ...]) -> tuple[Term, ...]:
        """Join two rows of values; terms are not nested deeper than MAX_DEPTH."""
        return tuple(self.term(mine, its) for mine, its in zip(first, second, strict=True))

    def join_symbol(self, old: Term, new: Term) -> Term:
        """Keep an old symbol if it is paired with only one new value, and if as much is known about that value."""
        node = self.terms.nodes[old]
        assert isinstance(node, Symbol)
        if node.sort is Sort.LOST and (node.detail or not self.may_be_null(new)):
            return old
        is_private = old in self.old.private
        keeps = self.common_sort(old, new) == node and (not is_private or new in self.new.private)
        if keeps and not self.held(new) and self.first_met.setdefault(old, new) == new:
            if is_private:
                self.private.add(old)
            return old
        return self.weaker(old, new)

    def join_objects(self, old: Term, new: Term) -> Term:
        """Join two fresh objects.

        If locations hold the same object on one path and two objects on the other, one of them becomes unknown. No
        observable takes an unknown value, so nothing can be done to the object through that location.
        """
        if self.objects.setdefault(old, new) != new or self.held_by.setdefault(new, old) != old:
            self.is_less = True
            return self.terms.symbol(Sort.LOST, False)
        self.to_fill.append((old, new))
        return old

    def weaker(self, old: Term, new: Term) -> Term:
        """Return a symbol for a value about which less is known than before."""
        self.is_less = True
        held = self.held(old), self.held(new)
        if held[0] or held[1]:
            for conflicts, objects in zip(self.conflicts, held, strict=True):
                conflicts.update(objects)
            return self.terms.symbol(Sort.LOST, self.may_be_null(old) or self.may_be_null(new))
        common = self.common_sort(old, new)
        joined = self.terms.symbol(common.sort, common.detail)
        if common.sort is Sort.SEQUENCE and old in self.old.private and new in self.new.private:
            self.private.add(joined)
        return joined

    def common_sort(self, old: Term, new: Term) -> Symbol:
        """Return a symbol with the common sort of both values."""
        if self.may_be_null(old) or self.may_be_null(new):
            return NOTHING if self.is_nothing(old) and self.is_nothing(new) else Symbol(Sort.MAYBE)
        if self.terms.is_bool(old) and self.terms.is_bool(new):
            return Symbol(Sort.BOOL)
        nodes = self.terms.nodes[old], self.terms.nodes[new]
        return nodes[0] if isinstance(nodes[0], Symbol) and nodes[0] == nodes[1] else Symbol(Sort.PLAIN)

    def is_nothing(self, term: Term) -> bool:
        """Return whether a value is surely a null or a constant, which nobody has to keep."""
        node = self.terms.nodes[term]
        return isinstance(node, (Null, Constant)) or node == NOTHING

    def may_be_null(self, term: Term) -> bool:
        """Return whether a value may be the null of an unbound variable."""
        match self.terms.nodes[term]:
            case Null() | Symbol(sort=Sort.MAYBE) | Symbol(sort=Sort.LOST, detail=True):
                return True
            case _:
                return False

    def held(self, term: Term) -> set[Term]:
        """Return the fresh objects in a value, and the symbols for unknown values."""
        parts = set()
        pending = [term]
        while pending:
            part = pending.pop()
            match self.terms.nodes[part]:
                case Fresh() | Symbol(sort=Sort.LOST):
                    parts.add(part)
                case TupleOf(items=items) | Pure(items=items):
                    pending.extend(items)
                case _:
                    pass
        return parts


def meet(old: State, new: State, nested: list[tuple[Code, Code]]) -> tuple[State, bool]:
    """Return the facts of both states, and whether they are fewer than those of `old`. Both states are canonical.

    A container may be fresh on one path and escaped, or of another size, on the other. It is then treated as escaped on
    both paths, if its contents are the same on both sides.

    Args:
        old: the state of the paths so far.
        new: the state of a further path.
        nested: takes the pairs of nested code that must be equivalent.
    """
    known = old
    while True:
        joining = Join(old, new)
        joined = joining.state()
        # Each round leaves fewer fresh objects.
        opened = open_objects(old, new, joining.conflicts, nested) if any(joining.conflicts) else None
        if opened is None:
            return joined, joining.is_less or old is not known
        old, new = opened


def open_objects(
    old: State, new: State, conflicts: tuple[set[Term], set[Term]], nested: list[tuple[Code, Code]]
) -> tuple[State, State] | None:
    """Return both states with the conflicting fresh objects escaped, or None if that changes nothing.

    Args:
        old: the state of the paths so far.
        new: the state of a further path.
        conflicts: the objects of each state that are fresh on one path only.
        nested: takes the pairs of nested code that must be equivalent.
    """
    if not any(term in state.heap for state, objects in zip((old, new), conflicts, strict=True) for term in objects):
        return None
    opened = []
    pairs_of_code: list[tuple[Code, Code]] = []
    for state, partner, objects in zip((old, new), (new, old), conflicts, strict=True):
        opened.append(open_pairs(state, partner, objects, pairs_of_code))
    if opened[0] is old and opened[1] is new:
        return None
    nested.extend(pairs_of_code)
    return opened[0], opened[1]


def open_pairs(state: State, partner: State, objects: set[Term], nested: list[tuple[Code, Code]]) -> State:
    """Return a state in which objects of both sides have escaped; objects of only one side stay fresh.

    The pairing is a guess, and `relate` checks it: objects with the same contents on both sides look the same to
    others.

    Args:
        state: the state.
        partner: the state on the other path.
        objects: the objects of the state.
        nested: takes the pairs of nested code that must be equivalent.
    """
    owners = owner_of(state)
    rows: tuple[list[Term], list[Term]] = ([], [])
    # Objects are named in the order of their creation, which is the same on both sides.
    for term in sorted(objects & state.heap.keys()):
        rows[owners[term]].append(term)
    in_order = list(zip(*rows, strict=True)) if len(rows[0]) == len(rows[1]) else []
    same_moment = made_as_one(state.terms, rows)
    for pairs in (in_order, seen_as_one(state, partner, rows), same_moment, counterparts(state, owners, rows)):
        pairs_of_code: list[tuple[Code, Code]] = []
        seen = state.copy()
        if pairs and relate(seen, pairs, pairs_of_code) is None:
            nested.extend(pairs_of_code)
            return canonical(seen, (None, None))
    return state


def seen_as_one(state: State, partner: State, rows: tuple[list[Term], list[Term]]) -> list[tuple[Term, Term]]:
    """Return the pairs of objects of both sides for which another state has one value.

    If one side holds an object that the other has dropped, their order does not determine the pairs. `relate` checks
    whether the objects of a pair are the same.

    Args:
        state: the state.
        partner: the state on the other path.
        rows: the objects of each side, in the order of their creation.
    """
    places: list[dict[Term, Term]] = []
    for side, other, objects in zip(state.sides, partner.sides, rows, strict=True):
        held = dict(zip(other.stack, side.stack))
        held.update((other.variables[name], term) for name, term in side.variables.items() if name in other.variables)
        places.append({value: term for value, term in held.items() if term in objects})
    first, second = places
    values = first.keys() & second.keys() - {state.terms.null}
    return [(first[value], second[value]) for value in sorted(values)]


def made_as_one(terms: Terms, rows: tuple[list[Term], list[Term]]) -> list[tuple[Term, Term]]:
    """Return the pairs of objects of both sides that were made in one moment, if both sides made equally many."""
    moments: list[dict[int, list[Term]]] = [{}, {}]
    for by_moment, objects in zip(moments, rows, strict=True):
        for term in objects:
            by_moment.setdefault(terms.moment(term), []).append(term)
    first, second = moments
    return [
        pair
        for moment, objects in first.items()
        if len(objects) == len(second.get(moment, ()))
        for pair in zip(objects, second[moment], strict=True)
    ]


def counterparts(state: State, owners: dict[Term, int], rows: tuple[list[Term], list[Term]]) -> list[tuple[Term, Term]]:
    """Return the pairs that were made in one moment and contain a conflicting object.

    If the original makes functions of one code on both paths, and the candidate of two equal codes, only the
    candidate's side has a conflict.

    Args:
        state: the state.
        owners: the side of each fresh object: 0 or 1.
        rows: the conflicting objects of each side, in the order of their creation.
    """
    every: tuple[list[Term], list[Term]] = ([], [])
    for term in sorted(owners):
        every[owners[term]].append(term)
    wanted = {*rows[0], *rows[1]}
    return [pair for pair in made_as_one(state.terms, every) if not wanted.isdisjoint(pair)]


def owner_of(state: State) -> dict[Term, int]:
    """Return for each fresh object the number of the side that holds it."""
    owners: dict[Term, int] = {}
    for number, side in enumerate(state.sides):
        pending = [*side.stack, *side.variables.values(), side.handling]
        while pending:
            term = pending.pop()
            node = state.terms.nodes[term]
            if isinstance(node, (TupleOf, Pure)):
                pending.extend(node.items)
            elif term in state.heap and term not in owners:
                owners[term] = number
                pending.extend(contents(state.heap[term]))
    return owners


def alike(old: HeapObject, new: HeapObject) -> bool:
    """Return whether two objects differ only in their contents."""
    if isinstance(old, FunctionOf) and isinstance(new, FunctionOf) and old.code != new.code:
        return False
    return shape(old) == shape(new)
