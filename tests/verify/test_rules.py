"""Each rule of EQUIVALENT: a near miss that it refuses, and that is let through when the rule is taken away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Listing
from depyf.bytecode.normalise import normalise
from depyf.verify import bisimulate, frame_readers, relate, silent
from depyf.verify.assumptions import Assumptions
from depyf.verify.bisimulate import Bisimulation
from depyf.verify.events import Event
from depyf.verify.flow import Flow
from depyf.verify.frame import Frame
from depyf.verify.moves import count_of, variable
from depyf.verify.state import ListOf, State, contents
from depyf.verify.terms import Constant, NotUnderstood, Term, Terms
from tests.verify.assemble import assemble, view

Take = Callable[[pytest.MonkeyPatch], None]
Nested = list[tuple[Code, Code]]
Pairs = list[tuple[Term, Term]]


@dataclass(frozen=True)
class NearMiss:
    """Two codes that differ in what one rule is about, and what takes the rule away."""

    rule: str
    original: Listing
    candidate: Listing
    without: Take


def source(text: str) -> Listing:
    """Return the listing of a function's text."""
    return normalise(view(text))


def proven(pair: NearMiss) -> bool:
    """Return whether two listings are proven equivalent."""
    assumptions = Assumptions({"pair": 2})
    return bisimulate.bisimulate(Flow(pair.original), Flow(pair.candidate), assumptions).reason is None


def replace(owner: object, name: str, value: object) -> Take:
    """Return what replaces an attribute."""
    return lambda monkeypatch: monkeypatch.setattr(owner, name, value)


def replace_action(op: str, action: Callable[[Frame], bool]) -> Take:
    """Return what replaces the way in which an operation is done silently."""
    return lambda monkeypatch: monkeypatch.setitem(silent.SILENT, op, action)


STEP, RELATE, COMPARE = Bisimulation.step, bisimulate.relate, Bisimulation.compare


def by_kind(self: Bisimulation, state: State, mine: Event, its: Event) -> None:
    """Compare two observables by their kinds only."""
    if mine.kind != its.kind:
        raise NotUnderstood("kinds")


def by_operands(self: Bisimulation, state: State, mine: Event, its: Event) -> None:
    """Compare two observables by their operands only."""
    if relate.relate(state, list(zip(mine.operands, its.operands, strict=True)), self.result.nested):
        raise NotUnderstood("operands")


def never_forgets(self: Bisimulation, state: State, mine: Event, its: Event) -> None:
    """Compare two observables, and remember the outcome of truth tests for ever."""
    COMPARE(self, state, mine, its)
    state.tested = Kept(state.tested)


class Kept(dict[Term, Term]):
    """A record of truth tests that does not forget."""

    def clear(self) -> None:
        """Keep everything."""

    def copy(self) -> Kept:
        """Return a copy."""
        return Kept(self)


def only_true(state: State, truth: Term) -> list[State]:
    """Take one way of a branch only."""
    state.bound[truth] = state.terms.true
    return [state]


def end_only(self: Bisimulation, state: State) -> list[State]:
    """Take the end of an iterator only."""
    place = state.sides[0].place
    loops = place >= 0 and self.listings[0].instructions[place].op == "FOR_ITER"
    return STEP(self, state)[-1:] if loops else STEP(self, state)


def unseen(state: State, mine: Term, its: Term, pending: Pairs, nested: Nested) -> None:
    """Let fresh objects escape without a look at what is in them."""
    symbol = state.terms.symbol()
    state.bound[mine] = state.bound[its] = symbol
    del state.heap[mine], state.heap[its]


def by_first_items(state: State, mine: Term, its: Term, pending: Pairs, nested: Nested) -> None:
    """Let fresh objects escape that have the same first items."""
    pending.extend(zip(contents(state.heap[mine]), contents(state.heap[its]), strict=False))
    unseen(state, mine, its, pending, nested)


def still_fresh(state: State, mine: Term, its: Term, pending: Pairs, nested: Nested) -> None:
    """Let fresh objects stay fresh though others have seen them."""
    pending.extend(zip(contents(state.heap[mine]), contents(state.heap[its]), strict=True))


def by_contents(state: State, mine: Term, its: Term, pending: Pairs, nested: Nested) -> None:
    """Let every pair of fresh objects stay as it is: aliases are not seen."""
    still_fresh(state, mine, its, pending, nested)


def keeps_private(state: State, pairs: Pairs, nested: Nested) -> str | None:
    """Relate operands, and go on as if nobody had seen them."""
    private = state.private.copy()
    reason = RELATE(state, pairs, nested)
    state.private |= private
    return reason


def new_list(frame: Frame, term: Term) -> bool:
    """Push a list as if it were a new one."""
    value = frame.state.get(term)
    frame.push(frame.state.make(value) if isinstance(value, ListOf) else term)
    return frame.next()


def copies(frame: Frame) -> bool:
    """Do COPY, but of a list as if it were a new list."""
    return new_list(frame, frame.peek(count_of(frame)))


def loaded_unchecked(frame: Frame) -> bool:
    """Read a variable as if it were always bound."""
    frame.push(variable(frame))
    return frame.next()


def from_first_way(old: State, new: State, nested: Nested) -> tuple[State, bool]:
    """Keep what was known on the first way to a place."""
    return old, False


def by_equality(self: Terms, value: object) -> Term:
    """Return the term of a constant by `==`."""
    return self.shared(("constant", value), Constant(value))


def does_nothing(frame: Frame) -> bool:
    """Do nothing."""
    return frame.next()


HANDLED = """
    protect handler 0
    LOAD_FAST a
    GET_ITER
    RETURN
    end
    handler: PUSH_EXC_INFO
    POP
    {}
    LOAD_FAST b
    RETURN
"""
NEAR_MISSES = [
    NearMiss(
        "the operands are the same",
        source("def f(a, b): return g(a, b)"),
        source("def f(a, b): return g(b, a)"),
        replace(Bisimulation, "compare", by_kind),
    ),
    NearMiss(
        "the observable is the same",
        source("def f(a, b): return a.x"),
        source("def f(a, b): return a.y"),
        replace(Bisimulation, "compare", by_operands),
    ),
    NearMiss(
        "both ways of a branch are taken",
        source("def f(a, b):\n if a: return 1\n return 2"),
        source("def f(a, b):\n if a: return 1\n return 3"),
        replace(bisimulate, "split", only_true),
    ),
    NearMiss(
        "the next value of an iterator and its end are followed",
        source("def f(a, b):\n for x in a: b(x)\n return 1"),
        source("def f(a, b):\n for x in a: a(x)\n return 1"),
        replace(Bisimulation, "step", end_only),
    ),
    NearMiss(
        "an exception goes to the same handler",
        source("def f(a, b):\n try: a()\n except: b()"),
        source("def f(a, b):\n try: a()\n except: a()"),
        replace(Bisimulation, "exceptions", lambda self, state, mine, its: []),
    ),
    NearMiss(
        "what one protects the other protects",
        source("def f(a, b):\n try: a()\n finally: b()"),
        source("def f(a, b):\n a()\n b()"),
        replace(Bisimulation, "exceptions", lambda self, state, mine, its: []),
    ),
    NearMiss(
        "the exception being handled is the same",
        assemble(HANDLED.format("POP_EXCEPT")),
        assemble(HANDLED.format("POP")),
        replace(Bisimulation, "compare", by_operands),
    ),
    NearMiss(
        "what escapes has the same contents",
        source("def f(a, b): return [a, b]"),
        source("def f(a, b): return [b, a]"),
        replace(relate, "relate_fresh", unseen),
    ),
    NearMiss(
        "what escapes is of the same size",
        source("def f(a, b): return [a, b]"),
        source("def f(a, b): return [a]"),
        replace(relate, "relate_fresh", by_first_items),
    ),
    NearMiss(
        "what has escaped may be changed by others",
        source("def f(a, b):\n x = [a]\n b(x)\n return x[0]"),
        source("def f(a, b):\n x = [a]\n b(x)\n return a"),
        replace(relate, "relate_fresh", still_fresh),
    ),
    NearMiss(
        "aliases that escape are aliases in both",
        source("def f(a, b):\n x = [a]\n return b(x, x)"),
        source("def f(a, b): return b([a], [a])"),
        replace(relate, "relate_fresh", by_contents),
    ),
    NearMiss(
        "a copy of a reference is the same list",
        assemble("LOAD_FAST a\nBUILD_LIST 1\nCOPY 1\nCONST 0\nDELETE_SUBSCR\nRETURN"),
        assemble("LOAD_FAST a\nBUILD_LIST 1\nRETURN"),
        replace_action("COPY", copies),
    ),
    NearMiss(
        "a fresh list is itself and no other",
        source("def f(a, b):\n x = [a]\n return x is x"),
        source("def f(a, b): return [a] is [a]"),
        replace(Terms, "identical", lambda self, first, second: True),
    ),
    NearMiss(
        "a variable may be unbound",
        source("def f(a, b):\n if a: x = 1\n x\n return 1"),
        source("def f(a, b):\n if a: pass\n return 1"),
        replace_action("LOAD_FAST", loaded_unchecked),
    ),
    NearMiss(
        "where ways meet only that is known which holds on all",
        source("def f(a, b):\n x = 1\n for y in a: x = y\n return x"),
        source("def f(a, b):\n for y in a: pass\n return 1"),
        replace(bisimulate, "meet", from_first_way),
    ),
    NearMiss(
        "constants are the same by type",
        source("def f(a, b): return 1"),
        source("def f(a, b): return True"),
        replace(Terms, "constant", by_equality),
    ),
    NearMiss(
        "a truth test may turn out otherwise the next time",
        source("def f(a, b):\n if a:\n  b()\n  if a: b()"),
        source("def f(a, b):\n if a:\n  b()\n  b()"),
        replace(Bisimulation, "compare", never_forgets),
    ),
    NearMiss(
        "a value is not its iterator",
        assemble("LOAD_FAST a\nGET_ITER\nRETURN"),
        assemble("LOAD_FAST a\nRETURN"),
        replace_action("GET_ITER", does_nothing),
    ),
    NearMiss(
        "the variables are seen by locals()",
        source("def f(a, b):\n x = a\n return locals()"),
        source("def f(a, b): return locals()"),
        replace(frame_readers, "READERS", frozenset()),
    ),
    NearMiss(
        "the order of the variables is seen by locals()",
        source("def f(a, b):\n x = a\n y = b\n return locals()"),
        source("def f(a, b):\n y = b\n x = a\n return locals()"),
        replace(bisimulate, "shows_in_one_order", lambda *listings: True),
    ),
    NearMiss(
        "the first parameter is seen by super()",
        source("def f(a, b):\n a = b\n return super()"),
        source("def f(a, b): return super()"),
        replace(bisimulate, "takes_super", lambda listing: False),
    ),
    NearMiss(
        "a sequence of known length is known until others see it",
        source("def f(a, b):\n x = pair()\n b(x)\n return x[0]"),
        source("def f(a, b):\n x = pair()\n y, _ = x\n b(x)\n return y"),
        replace(bisimulate, "relate", keeps_private),
    ),
]


@pytest.mark.parametrize("pair", NEAR_MISSES, ids=lambda pair: pair.rule)
def test_a_near_miss_is_not_proven(pair: NearMiss) -> None:
    assert not proven(pair)


@pytest.mark.parametrize("pair", NEAR_MISSES, ids=lambda pair: pair.rule)
def test_only_the_rule_keeps_it_out(pair: NearMiss, monkeypatch: pytest.MonkeyPatch) -> None:
    pair.without(monkeypatch)
    assert proven(pair)


@pytest.mark.parametrize("pair", NEAR_MISSES, ids=lambda pair: pair.rule)
def test_each_code_is_equivalent_to_itself(pair: NearMiss) -> None:
    for listing in (pair.original, pair.candidate):
        outcome = bisimulate.bisimulate(Flow(listing), Flow(listing), Assumptions({"pair": 2}))
        assert outcome.reason is None, outcome.reason
