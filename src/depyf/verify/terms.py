"""Symbolic values: numbers that stand for what a location holds, the same number for the same value.

Terms are hash-consed: two terms made of equal parts are one number, so comparing two values is comparing two numbers,
and nothing walks a term to compare it. Both sides of a proof share one table. A `Symbol` is a value of which nothing
but its sort is known; as a result of an observable that both sides did, it is the same symbol on both sides.
Nobody changes a node; that nodes are not frozen makes making them cheap.
"""

from __future__ import annotations

import bisect
import enum
from collections.abc import Hashable
from dataclasses import dataclass

from depyf.bytecode.constants import key

Term = int
MAX_DEPTH = 60


class NotUnderstood(Exception):
    """The proof cannot go on: not every operation is understood in every situation."""


@enum.unique
class Sort(enum.Enum):
    """What is known of a symbol.

    PLAIN: a value.
    BOOL: `True` or `False`.
    TEXT: a text.
    ITERATOR: the result of GET_ITER, so that its own iterator is itself.
    ASYNC_ITERATOR: the result of GET_AITER, likewise.
    GLOBAL: the value of a global name, the detail.
    SEQUENCE: an exact tuple or list with as many items as the detail says, unchanged while it is private.
    LIST, SET, DICT: an exact list, set or dict.
    MAYBE: a value, or the null of an unbound variable.
    LOST: nothing, not even whether another term is the same value; the detail says whether it may be a null.
    """

    PLAIN = enum.auto()
    BOOL = enum.auto()
    TEXT = enum.auto()
    ITERATOR = enum.auto()
    ASYNC_ITERATOR = enum.auto()
    GLOBAL = enum.auto()
    SEQUENCE = enum.auto()
    LIST = enum.auto()
    SET = enum.auto()
    DICT = enum.auto()
    MAYBE = enum.auto()
    LOST = enum.auto()


@dataclass(slots=True)
class Symbol:
    """A value that is known by its name only."""

    sort: Sort
    detail: Hashable = None


CAUGHT = Symbol(Sort.PLAIN, "caught")
"""An exception."""


NOTHING = Symbol(Sort.MAYBE, "nothing")
"""A null or a constant, on different ways."""


@dataclass(slots=True, eq=False)
class Constant:
    """A constant that is not a tuple."""

    value: object


@dataclass(slots=True)
class TupleOf:
    """A tuple of known items. Which tuple it is does not matter: see the decision on identity."""

    items: tuple[Term, ...]


@dataclass(slots=True)
class Pure:
    """What an operation gives that runs no code of the program and depends on nothing but its operands."""

    op: str
    items: tuple[Term, ...]
    detail: Hashable = None


@dataclass(slots=True)
class Fresh:
    """A list, dict or function that was made here and that nobody else has seen; the heap says what is in it."""


FRESH = Fresh()


@dataclass(slots=True)
class Cell:
    """The cell of a cell or free variable."""

    name: str


@dataclass(slots=True)
class Null:
    """The null of a call, and of an unbound variable."""


Node = Symbol | Constant | TupleOf | Pure | Fresh | Cell | Null
SINGLETONS = (None, True, False, Ellipsis)
LITERALS = (int, float, complex, str, bytes, frozenset, slice)
"""Types of which there can be equal constants that are different objects."""


class Terms:
    """The table of all terms of one proof.

    met: by address, the constants that have been asked for, and their terms.
    asks_tracebacks: whether the code tells exceptions apart by their tracebacks, as the end of an `except*` does.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.met: dict[int, tuple[object, Term]] = {}
        self.depths: list[int] = []
        self.known: dict[Hashable, Term] = {}
        self.moments: list[Term] = []
        self.asks_tracebacks = False
        self.null = self.shared("null", Null())
        self.true = self.constant(True)
        self.false = self.constant(False)

    def new(self, node: Node, depth: int = 0) -> Term:
        """Return a term of its own."""
        if depth > MAX_DEPTH:
            raise NotUnderstood("values are nested too deeply")
        nodes = self.nodes
        nodes.append(node)
        self.depths.append(depth)
        return len(nodes) - 1

    def begin_moment(self) -> None:
        """Note that both sides run on from here: what they make until they stand again is made in one moment."""
        self.moments.append(len(self.nodes))

    def moment(self, term: Term) -> int:
        """Return the number of the moment in which a term was made."""
        return bisect.bisect(self.moments, term)

    def shared(self, identity: Hashable, node: Node, depth: int = 0) -> Term:
        """Return the one term with this identity."""
        term = self.known.get(identity)
        if term is None:
            term = self.known[identity] = self.new(node, depth)
        return term

    def symbol(self, sort: Sort = Sort.PLAIN, detail: Hashable = None) -> Term:
        """Return a symbol that is unlike any other."""
        return self.new(Symbol(sort, detail))

    def fresh(self) -> Term:
        """Return the name of a container or function that has just been made."""
        return self.new(FRESH)

    def cell(self, name: str) -> Term:
        """Return the cell of a variable."""
        return self.shared(("cell", name), Cell(name))

    def constant(self, value: object) -> Term:
        """Return the term of a constant; a tuple is taken apart, a slice is what BUILD_SLICE makes."""
        # What is kept beside the term stays alive, so that nothing else can come to have its address.
        met = self.met.get(id(value))
        if met is None:
            met = self.met[id(value)] = (value, self.new_constant(value))
        return met[1]

    def new_constant(self, value: object) -> Term:
        """Return the term of a constant that is met for the first time."""
        if not isinstance(value, (tuple, slice)):
            return self.shared(("constant", key(value)), Constant(value))
        made: list[Term] = []
        pending = [(value, 0, False)]
        while pending:
            item, level, is_ready = pending.pop()
            if isinstance(item, slice):
                bounds = (item.start, item.stop, item.step)
                parts = tuple(self.shared(("constant", key(bound)), Constant(bound)) for bound in bounds)
                made.append(self.pure("slice", parts))
            elif not isinstance(item, tuple) or type(item) is not tuple or level == MAX_DEPTH:
                made.append(self.shared(("constant", key(item)), Constant(item)))
            elif is_ready:
                first = len(made) - len(item)
                made[first:] = [self.tuple_of(tuple(made[first:]))]
            else:
                pending.append((item, level, True))
                pending.extend((part, level + 1, False) for part in reversed(item))
        return made[0]

    def tuple_of(self, items: tuple[Term, ...]) -> Term:
        """Return a tuple of terms."""
        term = self.known.get(("tuple", items))
        return self.shared(("tuple", items), TupleOf(items), self.depth(items)) if term is None else term

    def pure(self, op: str, items: tuple[Term, ...], detail: Hashable = None) -> Term:
        """Return the result of a pure operation, computed where its operands are known."""
        if op == "not":
            node = self.nodes[items[0]]
            if isinstance(node, Constant):
                return self.false if node.value else self.true
            if isinstance(node, Pure) and node.op == "not":
                return node.items[0]
        if op == "is":
            answer = self.identical(*items)
            if answer is not None:
                return self.true if answer else self.false
            items = tuple(sorted(items))
        term = self.known.get((op, items, detail))
        if term is None:
            term = self.shared((op, items, detail), Pure(op, items, detail), self.depth(items))
        return term

    def depth(self, items: tuple[Term, ...]) -> int:
        """Return how deep a term of these items is nested."""
        return 1 + max([self.depths[item] for item in items], default=0)

    def identical(self, first: Term, second: Term) -> bool | None:
        """Return whether two terms are the same object; None where that is known at run time only.

        Raises `NotUnderstood` where it depends on which of several equal objects a location holds.
        """
        nodes = self.nodes[first], self.nodes[second]
        if any(isinstance(node, Symbol) and node.sort in (Sort.LOST, Sort.MAYBE) for node in nodes):
            raise NotUnderstood("`is` of a value that is not known")
        single = [is_singleton(node) for node in nodes]
        if any(isinstance(node, (Fresh, Cell)) for node in nodes) or all(single):
            return first == second
        if any(single):
            other = nodes[single.index(False)]
            return None if may_be_singleton(other) else False
        if all(has_identity(node) for node in nodes):
            return True if first == second else None
        raise NotUnderstood("`is` of a value whose identity is not known")

    def is_bool(self, term: Term) -> bool:
        """Return whether a term is surely `True` or `False`."""
        match self.nodes[term]:
            case Symbol(sort=Sort.BOOL) | Pure(op="not" | "is" | "matches"):
                return True
            case Constant(value=value):
                return value is True or value is False
            case _:
                return False

    def is_caught(self, term: Term) -> bool:
        """Return whether a term is surely an exception."""
        return self.nodes[term] == CAUGHT

    def is_text(self, term: Term) -> bool:
        """Return whether a term is surely a text."""
        match self.nodes[term]:
            case Symbol(sort=Sort.TEXT) | Pure(op="string"):
                return True
            case Constant(value=value):
                return type(value) is str
            case _:
                return False


def is_singleton(node: Node) -> bool:
    """Return whether a node is a constant that exists once."""
    return isinstance(node, Constant) and any(node.value is single for single in SINGLETONS)


def may_be_singleton(node: Node) -> bool:
    """Return whether a node that is no constant may stand for a constant that exists once."""
    match node:
        case Symbol():
            return node != CAUGHT
        case Pure(op=op):
            return op not in ("string", "slice")
        case _:
            return False


def has_identity(node: Node) -> bool:
    """Return whether equal terms with this node are the same object in both codes."""
    match node:
        case Symbol() | Pure(op="item"):
            return True
        case Constant(value=value):
            return type(value) not in LITERALS
        case _:
            return False
