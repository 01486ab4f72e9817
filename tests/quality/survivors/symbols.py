"""Values that are not known, as numbers: two are the same value where they have the same number.

A value is a constant, a symbol (the result of something, the same on both sides), a pure operation on values, or an
object that was just made and that nothing else has seen (`Made`). Of the latter each making is another one.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from depyf.bytecode.code import Code
from depyf.bytecode.constants import key

Term = int
NUMBERS = (int, float, bool, type(None))


class NotFollowed(Exception):
    """There is too much to follow, or something that is not known here."""


@dataclass(frozen=True, slots=True)
class Node:
    """What a value is: `what` it is or does, with what argument, of which values."""

    what: str
    arg: Hashable = None
    items: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class Made:
    """A container or function that nobody has seen: how it was made, of what, and the code object of a function."""

    how: Hashable
    items: tuple[Term, ...]
    code: Code | None = None


class Symbols:
    """The values of one walk."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.numbers: dict[Node, Term] = {}
        self.values: dict[Term, object] = {}
        self.null = self.of("null")
        self.singles = frozenset(self.constant(value) for value in (None, True, False))
        self.truth = {truth: self.constant(truth) for truth in (False, True)}

    def of(self, what: str, arg: Hashable = None, items: tuple[Term, ...] = ()) -> Term:
        """Return the value that a node stands for."""
        node = Node(what, arg, items)
        number = self.numbers.get(node)
        if number is None:
            number = self.numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return number

    def constant(self, value: object) -> Term:
        """Return a constant; a tuple is one of its items."""
        if type(value) is tuple and len(value) < 20 and not any(type(item) is tuple for item in value):
            return self.of("tuple", None, tuple(self.constant(item) for item in value))
        term = self.of("constant", key(value))
        self.values[term] = value
        return term

    def symbol(self, sort: str = "") -> Term:
        """Return a new symbol.

        sort: `caught` is an exception that was raised here, `list` and `function` were made here, `plain` may be
            a number, text or tuple that was made here, so that nobody can say which object it is, and of `maybe` it
            is not known whether it is a value at all, or none: it stands in a variable that may be unbound.
        """
        return self.of("symbol", (len(self.nodes), sort))

    def sort(self, term: Term) -> str:
        """Return the sort of a symbol, nothing for other values."""
        node = self.nodes[term]
        return str(node.arg[1]) if node.what == "symbol" and isinstance(node.arg, tuple) else ""


@dataclass(slots=True)
class Side:
    """Where one of both codes stands, and what it holds. Variables that are not named are unbound."""

    place: int
    stack: list[Term]
    variables: dict[str, Term]
    handling: Term


@dataclass(slots=True)
class State:
    """Both sides, what was made and not seen, and what became known: of tests, and of what both have made.

    tested: values of which the truth was asked for last, which is not asked for once more (decision 0008).
    meets: whether a side came to a place where ways meet since both stood at the same operation.
    """

    symbols: Symbols
    sides: tuple[Side, Side]
    made: dict[Term, Made] = field(default_factory=dict)
    known: dict[Term, Term] = field(default_factory=dict)
    tested: dict[Term, bool] = field(default_factory=dict)
    meets: bool = False

    def copy(self) -> State:
        """Return a state that goes its own way from here."""
        first, second = (Side(side.place, side.stack[:], side.variables.copy(), side.handling) for side in self.sides)
        return State(self.symbols, (first, second), self.made.copy(), self.known.copy(), self.tested.copy(), self.meets)

    def resolve(self, term: Term) -> Term:
        """Return what is known of a value now."""
        while term in self.known:
            term = self.known[term]
        return term

    def make(self, how: Hashable, items: tuple[Term, ...], code: Code | None = None) -> Term:
        """Return a new object."""
        term = self.symbols.symbol("made")
        self.made[term] = Made(how, items, code)
        return term

    def items(self, term: Term) -> tuple[Term, ...] | None:
        """Return the items of a tuple, or of a list that nobody has seen."""
        node, new_object = self.symbols.nodes[term], self.made.get(term)
        if node.what == "tuple":
            return node.items
        return new_object.items if new_object is not None and new_object.how == "list" else None

    def is_truth(self, term: Term) -> bool | None:
        """Return whether a value is true, where that is known and asking runs no code."""
        node, new_object = self.symbols.nodes[term], self.made.get(term)
        if new_object is not None:
            return new_object.code is not None or bool(new_object.items)
        if node.what == "constant":
            value = self.symbols.values[term]
            return bool(value) if type(value) in (*NUMBERS, str, bytes) else None
        if node.what == "tuple" or self.symbols.sort(term) == "function":
            return node.what != "tuple" or bool(node.items)
        return self.tested.get(term)
