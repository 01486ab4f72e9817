"""When values of both sides are the same, and what is known where ways meet.

What is known at a pair of places is, for each location (a slot of the stack, a variable, the exception being handled),
the value that stands in the code, or a class: the locations of one class hold the same value, whichever side they are
on. Of two ways that meet, what holds on both is known.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from depyf.bytecode.code import Code
from depyf.bytecode.constants import key
from tests.quality.survivors.symbols import Made, Node, Side, State, Symbols, Term

Item = TypeVar("Item")
Inside = list[tuple[Code, Code]]
Names = tuple[str, ...]
COMPOUND = ("tuple", "slice", "string")
MOST_ROWS = 16
MOST_ITEMS = 4
"""How many new objects are kept apart where ways meet, and how much may be in one of them: more is not known then."""


@dataclass(frozen=True, slots=True)
class Row:
    """An object that was made on one side and not yet on the other: how, and of how many values."""

    how: Hashable
    count: int
    code: Code | None


@dataclass(frozen=True, slots=True)
class Key:
    """A pair of places, the variables that are read from there on, and what tells states apart that are there.

    depths: how many values are on both stacks.
    nulls: where nulls stand on them.
    numbers: the variables that only hold what stands in the code, with that.
    rows: objects that one side alone has made, and by location which of them it holds.
    """

    places: tuple[int, int]
    depths: tuple[int, int]
    live: tuple[tuple[str, ...], tuple[str, ...]]
    nulls: tuple[tuple[int, ...], tuple[int, ...]]
    numbers: tuple[tuple[tuple[str, Term], ...], tuple[tuple[str, Term], ...]]
    rows: tuple[Row, ...]
    held: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Known:
    """A value that stands in the code, or none."""

    term: Term


@dataclass(frozen=True, slots=True)
class Class:
    """Locations that hold one value, and of what sort that is."""

    number: int
    sort: str


@dataclass(frozen=True, slots=True)
class New:
    """An object that was made and not seen, by number."""

    number: int


Entry = Known | Class | New
Met = tuple[Entry, ...]
"""What is known of each location of both sides, in the order of `locations`, then of what new objects hold."""


def equal(state: State, pairs: Iterable[tuple[Term, Term]], inside: Inside) -> bool:
    """Return whether pairs of values, the first of each of the first side, are the same, and know it from then on.

    Two new objects are the same from here on if they were made alike. Pairs of their code are added to `inside`.
    """
    pending = list(pairs)
    while pending:
        first, second = (state.resolve(term) for term in pending.pop())
        if first == second:
            continue
        nodes = state.symbols.nodes[first], state.symbols.nodes[second]
        if first in state.made and second in state.made:
            new_objects = state.made.pop(first), state.made.pop(second)
            if not is_made_alike(*new_objects, inside):
                return False
            state.known[first] = state.known[second] = state.symbols.symbol(seen_sort(new_objects[0]))
            pending.extend(zip(new_objects[0].items, new_objects[1].items))
        elif (
            nodes[0].what in COMPOUND and nodes[0].what == nodes[1].what and len(nodes[0].items) == len(nodes[1].items)
        ):
            pending.extend(zip(nodes[0].items, nodes[1].items))
        else:
            return False
    return True


def is_alike(first: Node, second: Node) -> bool:
    """Return whether two values are made by the same operation of as many values."""
    return (first.what, len(first.items)) == (second.what, len(second.items))


def seen_sort(new_object: Made) -> str:
    """Return the sort of an object that was made here, once others see it."""
    return "function" if new_object.code is not None else "list" if new_object.how == "list" else ""


def is_made_alike(first: Made, second: Made, inside: Inside) -> bool:
    """Return whether two new objects are made in the same way; of functions, if their code is the same too."""
    if first.how != second.how or len(first.items) != len(second.items):
        return False
    if first.code is not None and second.code is not None and key(first.code) != key(second.code):
        inside.append((first.code, second.code))
    return True


def meeting(
    state: State, live: tuple[Names, Names], numeric: tuple[frozenset[str], ...], inside: Inside
) -> tuple[Key, Met]:
    """Return where a state stands, and what it knows of what is read from there on."""
    null = state.symbols.null
    pair_up(state, live, inside)
    parts = [[whole(state, term) for term in locations(side, names, null)] for side, names in zip(state.sides, live)]
    terms = parts[0] + parts[1]
    rows: dict[Term, Row] = {}
    for term in terms:
        new_object = state.made.get(term)
        if (
            new_object is not None
            and term not in rows
            and len(rows) < MOST_ROWS
            and len(new_object.items) <= MOST_ITEMS
        ):
            rows[term] = Row(new_object.how, len(new_object.items), new_object.code)
            terms += [whole(state, item) for item in new_object.items]
    numbers = {term: number for number, term in enumerate(rows)}
    classes: dict[Term, int] = {}
    met = tuple(New(numbers[term]) if term in rows else entry(state, term, classes) for term in terms)
    first, second = state.sides
    key = Key(
        (first.place, second.place),
        (len(first.stack), len(second.stack)),
        live,
        two([tuple(at for at, term in enumerate(part[: len(side.stack)]) if term == null)
             for side, part in zip(state.sides, parts)]),
        two([tuple(row for row in zip(names, part[len(side.stack) :]) if row[0] in counted)
             for side, names, part, counted in zip(state.sides, live, parts, numeric)]),
        tuple(rows.values()),
        tuple((at, numbers[term]) for at, term in enumerate(terms) if term in rows),
    )  # fmt: skip
    return key, met


def two(items: list[Item]) -> tuple[Item, Item]:
    """Return the items of a list of two."""
    first, second = items
    return first, second


def pair_up(state: State, live: tuple[Names, Names], inside: Inside) -> None:
    """Let new objects be the same that stand in the same location of both sides and were made alike.

    Not what is empty, and no small dict: of these it is known what they hold, as long as nobody has seen them.
    """
    first, second = (side.variables for side in state.sides)
    names = [name for name in live[0] if name in live[1] and name in first and name in second]
    pairs = [*zip(state.sides[0].stack, state.sides[1].stack), *((first[name], second[name]) for name in names)]
    for pair in pairs:
        mine, its = (state.resolve(term) for term in pair)
        if mine == its or not all(is_new(state, term) for term in (mine, its)):
            continue
        pairs_inside: Inside = []
        trial = state.copy()
        if equal(trial, [(mine, its)], pairs_inside):
            state.made, state.known = trial.made, trial.known
            inside.extend(pairs_inside)


def is_new(state: State, term: Term) -> bool:
    """Return whether a value was made here: a function, a tuple, or a container of something."""
    new_object = state.made.get(term)
    if new_object is None:
        return state.symbols.nodes[term].what in COMPOUND
    is_small = isinstance(new_object.how, tuple) and len(new_object.items) <= MOST_ITEMS
    return new_object.code is not None or (bool(new_object.items) and not is_small)


def locations(side: Side, names: Names, null: Term) -> list[Term]:
    """Return the values that a side holds, of variables those that are named."""
    return [*side.stack, *(side.variables.get(name, null) for name in names), side.handling]


def whole(state: State, term: Term) -> Term:
    """Return a value in which all that is known now is written out."""
    done: dict[Term, Term] = {}
    pending = [state.resolve(term)]
    while pending:
        now = pending[-1]
        node = state.symbols.nodes[now]
        parts = [state.resolve(item) for item in node.items]
        missing = [part for part in parts if part not in done]
        if missing:
            pending += missing
            continue
        pending.pop()
        done[now] = state.symbols.of(node.what, node.arg, tuple(done[part] for part in parts)) if parts else now
    return done[state.resolve(term)]


def entry(state: State, term: Term, classes: dict[Term, int]) -> Entry:
    """Return what is known of a location with this value."""
    if stands_in_code(state.symbols, term):
        return Known(term)
    sort = state.symbols.sort(term) if state.symbols.nodes[term].what == "symbol" else "plain"
    return Class(classes.setdefault(term, len(classes)), sort)


def stands_in_code(symbols: Symbols, term: Term) -> bool:
    """Return whether a value is made of constants alone, or is none."""
    pending, seen = [term], {term}
    while pending:
        node = symbols.nodes[pending.pop()]
        if node.what == "symbol":
            return False
        new = set(node.items) - seen
        seen |= new
        pending += new
    return True


def meet(first: Met, second: Met, null: Term) -> Met:
    """Return what holds both ways."""
    classes: dict[tuple[Entry, Entry], int] = {}
    pairs_inside: list[Entry] = []
    for pair in zip(first, second):
        if pair[0] == pair[1] and not isinstance(pair[0], Class):
            pairs_inside.append(pair[0])
        else:
            pairs_inside.append(Class(classes.setdefault(pair, len(classes)), sort_of(pair, null)))
    return tuple(pairs_inside)


def sort_of(pair: tuple[Entry, Entry], null: Term) -> str:
    """Return the sort of what is one value on one way, and another on the other."""
    sorts = {value.sort if isinstance(value, Class) else "maybe" if value == Known(null) else "plain" for value in pair}
    if len(sorts) == 1:
        return sorts.pop()
    return "maybe" if "maybe" in sorts else "plain" if "plain" in sorts else ""


def rebuilt(symbols: Symbols, at: Key, met: Met) -> State:
    """Return a state that knows just what is known at a pair of places."""
    state = State(symbols, two([Side(place, [], {}, symbols.null) for place in at.places]))
    terms = terms_of(state, at, met)
    for side, depth, names in zip(state.sides, at.depths, at.live):
        side.stack = [next(terms) for _ in range(depth)]
        side.variables = {name: term for name in names if (term := next(terms)) != symbols.null}
        side.handling = next(terms)
    return state


def terms_of(state: State, at: Key, met: Met) -> Iterator[Term]:
    """Return the values of the locations in their order, those of one class the same."""
    symbols = state.symbols
    new = {value: symbols.symbol(value.sort) for value in dict.fromkeys(met) if isinstance(value, Class)}
    new_objects = [symbols.symbol("made") for _ in at.rows]
    terms = [value.term if isinstance(value, Known)
             else new_objects[value.number] if isinstance(value, New) else new[value] for value in met]  # fmt: skip
    contents = iter(terms[len(terms) - sum(row.count for row in at.rows) :])
    for term, row in zip(new_objects, at.rows):
        state.made[term] = Made(row.how, tuple(next(contents) for _ in range(row.count)), row.code)
    return iter(terms)
