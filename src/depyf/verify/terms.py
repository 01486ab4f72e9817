"""Symbolic values: numbers for the contents of locations, the same number for the same value.

Terms are hash-consed: two terms with equal parts are one number, so comparing values means comparing numbers. Both
sides of a proof share one table. A `Symbol` is a value of which only the sort is known. The result of an observable
that both sides executed is the same symbol on both sides. Nodes are immutable by convention: unfrozen nodes are faster
to make.
"""

from __future__ import annotations

import bisect
import enum
from collections.abc import Hashable

from depyf.bytecode.constants import key
from depyf.bytecode.records import dataclass

Term = int
MAX_DEPTH = 60


class NotUnderstood(Exception):
    """The proof cannot continue: it does not support this operation in this situation."""


@enum.unique
class Sort(enum.Enum):
    """The known facts about a symbol.

    PLAIN: a value.
    BOOL: `True` or `False`.
    TEXT: a string.
    ITERATOR: the result of GET_ITER, so that its own iterator is itself.
    ASYNC_ITERATOR: the result of GET_AITER, so that its own asynchronous iterator is itself.
    GLOBAL: the value of the global that the detail names.
    SEQUENCE: an exact tuple or list with the length in the detail, unchanged while it is private.
    LIST, SET, DICT: an exact list, set or dict.
    MAYBE: a value, or the null of an unbound variable.
    LOST: nothing, not even whether another term is the same value; the detail tells whether it may be a null.
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
"""A null or a constant, depending on the path."""


@dataclass(slots=True, eq=False)
class Constant:
    """A constant that is not a tuple."""

    value: object


@dataclass(slots=True)
class TupleOf:
    """A tuple of known items. Its identity does not matter: see the decision on identity."""

    items: tuple[Term, ...]


@dataclass(slots=True)
class Pure:
    """The result of an operation that runs no code of the program and depends only on its operands."""

    op: str
    items: tuple[Term, ...]
    detail: Hashable = None


@dataclass(slots=True)
class Fresh:
    """A list, dict or function that was made here and has not escaped; the heap holds its contents."""


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
"""Types for which equal constants can be different objects."""


class Terms:
    """The table of all terms of one proof.

    met: the constants so far by address, and their terms.
    asks_tracebacks: whether the code distinguishes exceptions by their tracebacks, as the end of an `except*` does.
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
        """Record that both sides continue from here: objects made until the next observable are made in one moment."""
        self.moments.append(len(self.nodes))

    def moment(self, term: Term) -> int:
        """Return the number of the moment in which a term was made."""
        return bisect.bisect(self.moments, term)

    def shared(self, identity: Hashable, node: Node, depth: int = 0) -> Term:
        """Return the one term with this identity.

        Args:
            identity: the identity.
            node: the node of a new term.
            depth: its depth, for the node of a new term.
        """
        term = self.known.get(identity)
        if term is None:
            term = self.known[identity] = self.new(node, depth)
        return term

    def symbol(self, sort: Sort = Sort.PLAIN, detail: Hashable = None) -> Term:
        """Return a symbol that differs from any other."""
        return self.new(Symbol(sort, detail))

    def fresh(self) -> Term:
        """Return the name of a container or function that has just been made."""
        return self.new(FRESH)

    def cell(self, name: str) -> Term:
        """Return the cell of a variable."""
        return self.shared(("cell", name), Cell(name))

    def constant(self, value: object) -> Term:
        """Return the term of a constant; a tuple is split into its items, a slice equals the result of BUILD_SLICE."""
        # The table keeps the constant alive, so that no other object can get its address.
        met = self.met.get(id(value))
        if met is None:
            met = self.met[id(value)] = (value, self.new_constant(value))
        return met[1]

    def new_constant(self, value: object) -> Term:
        """Return the term of a new constant."""
        if not isinstance(value, (tuple, slice)):
            return self.shared(("constant", key(value)), Constant(value))
        terms: list[Term] = []
        pending = [(value, 0, False)]
        while pending:
            item, level, is_ready = pending.pop()
            if isinstance(item, slice):
                bounds = (item.start, item.stop, item.step)
                parts = tuple(self.shared(("constant", key(bound)), Constant(bound)) for bound in bounds)
                terms.append(self.pure("slice", parts))
            elif not isinstance(item, tuple) or type(item) is not tuple or level == MAX_DEPTH:
                terms.append(self.shared(("constant", key(item)), Constant(item)))
            elif is_ready:
                first = len(terms) - len(item)
                terms[first:] = [self.tuple_of(tuple(terms[first:]))]
            else:
                pending.append((item, level, True))
                pending.extend((part, level + 1, False) for part in reversed(item))
        return terms[0]

    def tuple_of(self, items: tuple[Term, ...]) -> Term:
        """Return a tuple of terms."""
        term = self.known.get(("tuple", items))
        return self.shared(("tuple", items), TupleOf(items), self.depth(items)) if term is None else term

    def pure(self, op: str, items: tuple[Term, ...], detail: Hashable = None) -> Term:
        """Return the result of a pure operation, computed if its operands are known.

        Args:
            op: the operation.
            items: its operands.
            detail: what else belongs to the operation, for example a position.
        """
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
        """Return the nesting depth of a term with these items."""
        return 1 + max([self.depths[item] for item in items], default=0)

    def identical(self, first: Term, second: Term) -> bool | None:
        """Return whether two terms are the same object; None if that is known only at run time.

        Raises `NotUnderstood` if it depends on which of several equal objects a location holds.
        """
        nodes = self.nodes[first], self.nodes[second]
        if any(isinstance(node, Symbol) and node.sort in (Sort.LOST, Sort.MAYBE) for node in nodes):
            raise NotUnderstood("`is` of an unknown value")
        single = [is_singleton(node) for node in nodes]
        if any(isinstance(node, (Fresh, Cell)) for node in nodes) or all(single):
            return first == second
        if any(single):
            other = nodes[single.index(False)]
            return None if may_be_singleton(other) else False
        if all(has_identity(node) for node in nodes):
            return True if first == second else None
        raise NotUnderstood("`is` of a value of unknown identity")

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
        """Return whether a term is surely a string."""
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
    """Return whether a node that is not a constant may stand for a constant that exists once."""
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
