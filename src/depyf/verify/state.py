"""The state of both codes at a pair of places: stacks, variables, and the heap of objects that have not escaped."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.verify.terms import Fresh, Pure, Sort, Symbol, Term, Terms, TupleOf

LEAVE = -1
"""The place of a frame that an exception has left; its stack holds only the exception."""


@dataclass(slots=True)
class ListOf:
    """A fresh list. Immutable by convention."""

    items: tuple[Term, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DictOf:
    """A fresh dict with constant keys: by key, the key's and the value's term, in order of insertion."""

    entries: dict[Hashable, tuple[Term, Term]]


@dataclass(frozen=True, slots=True, eq=False)
class FunctionOf:
    """A fresh function: its code, its MAKE_FUNCTION operands by flag, and its name if the code has none."""

    code: Term
    parts: dict[int, Term]
    name: object = None


@dataclass(frozen=True, slots=True)
class EmptySet:
    """A fresh empty set."""


HeapObject = ListOf | DictOf | FunctionOf | EmptySet


def contents(item: HeapObject) -> tuple[Term, ...]:
    """Return the non-constant terms in a heap object, in order: no keys, no code."""
    match item:
        case ListOf(items=items):
            return items
        case DictOf(entries=entries):
            return tuple(value for _, value in entries.values())
        case FunctionOf(parts=parts):
            return tuple(parts[flag] for flag in sorted(parts))
        case EmptySet():
            return ()


def sort_of(item: HeapObject) -> Sort:
    """Return the sort of a fresh object after it has escaped."""
    match item:
        case ListOf():
            return Sort.LIST
        case DictOf():
            return Sort.DICT
        case EmptySet():
            return Sort.SET
        case FunctionOf():
            return Sort.PLAIN


def refilled(item: HeapObject, terms: tuple[Term, ...]) -> HeapObject:
    """Return a heap object of the same shape with other contents, in the order of `contents`."""
    match item:
        case ListOf():
            return ListOf(terms)
        case DictOf(entries=entries):
            named = zip(entries.items(), terms, strict=True)
            return DictOf({wanted: (name, term) for (wanted, (name, _)), term in named})
        case FunctionOf(code=code, parts=parts, name=name):
            return FunctionOf(code, dict(zip(sorted(parts), terms, strict=True)), name)
        case EmptySet():
            return item


def shape(item: HeapObject) -> tuple[object, ...]:
    """Return the shape that two heap objects must share to be compared item by item; a function's code is excluded."""
    match item:
        case ListOf(items=items):
            return "list", len(items)
        case DictOf(entries=entries):
            return "dict", *(name for name, _ in entries.values())
        case FunctionOf(parts=parts, name=name):
            return "function", name, *sorted(parts)
        case EmptySet():
            return ("set",)


@dataclass(slots=True)
class Side:
    """One code at its place.

    variables: the bound ones.
    handling: the exception being handled, as `sys.exc_info()` would say.
    """

    place: int
    stack: list[Term]
    variables: dict[str, Term]
    handling: Term

    def copy(self) -> Side:
        """Return a copy that can be changed on its own."""
        return Side(self.place, self.stack.copy(), self.variables.copy(), self.handling)


@dataclass(slots=True)
class State:
    """Both codes, the original's side first.

    heap: the contents of each fresh term.
    bound: terms that have become known as other terms: an escaped container, a truth value that a branch decided.
    private: the sequences of assumed length that have not escaped.
    tested: the results of the last truth tests, with no observable since.
    met: whether the path passed a meeting of paths.
    origin: the last pair of meeting places from which the walk continued.
    joint: whether both sides have executed an observable since then.
    """

    terms: Terms
    sides: tuple[Side, Side]
    heap: dict[Term, HeapObject] = field(default_factory=dict)
    bound: dict[Term, Term] = field(default_factory=dict)
    private: set[Term] = field(default_factory=set)
    tested: dict[Term, Term] = field(default_factory=dict)
    met: bool = False
    origin: tuple[int, int] | None = None
    joint: bool = False

    def copy(self) -> State:
        """Return a copy that can be changed on its own."""
        first, second = self.sides
        return State(
            self.terms,
            (first.copy(), second.copy()),
            self.heap.copy(),
            self.bound.copy(),
            self.private.copy(),
            self.tested.copy(),
            self.met,
            self.origin,
            self.joint,
        )

    def resolve(self, term: Term) -> Term:
        """Return the term that a term has become known as, with its parts resolved too."""
        bound = self.bound
        if not bound:
            return term
        if not isinstance(self.terms.nodes[term], (TupleOf, Pure)):
            while term in bound:
                term = bound[term]
            return term
        done: dict[Term, Term] = {}
        pending = [term]
        while pending:
            current = pending[-1]
            known = self.follow(current)
            node = self.terms.nodes[known]
            items = node.items if isinstance(node, (TupleOf, Pure)) else ()
            missing = [item for item in items if item not in done]
            if missing:
                pending.extend(missing)
                continue
            new_items = tuple(done[item] for item in items)
            if new_items != items and isinstance(node, Pure):
                known = self.follow(self.terms.pure(node.op, new_items, node.detail))
            elif new_items != items:
                known = self.terms.tuple_of(new_items)
            done[current] = known
            pending.pop()
        return done[term]

    def follow(self, term: Term) -> Term:
        """Return the term that a term has become known as, without its parts."""
        while term in self.bound:
            term = self.bound[term]
        return term

    def make(self, item: HeapObject) -> Term:
        """Put a new object on the heap."""
        term = self.terms.fresh()
        self.heap[term] = item
        return term

    def get(self, term: Term) -> HeapObject | None:
        """Return the fresh object that a resolved term names, if it names one."""
        return self.heap.get(term)

    def references(self, side: Side, wanted: Term) -> int:
        """Return how often a side refers to a fresh object, also through other objects."""
        count = 0
        seen: set[Term] = set()
        pending = [*side.stack, *side.variables.values(), side.handling]
        while pending:
            term = self.resolve(pending.pop())
            node = self.terms.nodes[term]
            count += term == wanted
            if isinstance(node, (TupleOf, Pure)):
                pending.extend(node.items)
            elif term in self.heap and term not in seen:
                seen.add(term)
                pending.extend(contents(self.heap[term]))
        return count

    def exact_type(self, term: Term) -> Sort | None:
        """Return LIST, SET or DICT if a resolved term is surely exactly that."""
        node = self.terms.nodes[term]
        sort = sort_of(self.heap[term]) if term in self.heap else node.sort if isinstance(node, Symbol) else None
        return sort if sort in (Sort.LIST, Sort.SET, Sort.DICT) else None

    def items(self, term: Term) -> tuple[Term, ...] | None:
        """Return the items of a tuple, fresh list or private sequence, or None if they are unknown."""
        match self.terms.nodes[term]:
            case TupleOf(items=items):
                return items
            case Fresh():
                content = self.heap.get(term)
                return content.items if isinstance(content, ListOf) else None
            case Symbol(sort=Sort.SEQUENCE, detail=count) if term in self.private and isinstance(count, int):
                return tuple(self.terms.pure("item", (term,), place) for place in range(count))
            case _:
                return None
