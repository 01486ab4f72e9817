"""Each rule of what holds where paths meet: a near miss that it refuses, and that is let through without the rule."""

from __future__ import annotations

import pytest

from depyf.bytecode.code import Code
from depyf.verify import bisimulate, join
from depyf.verify.assumptions import NO_ASSUMPTIONS
from depyf.verify.flow import Flow
from depyf.verify.join import Join
from depyf.verify.state import State, refilled
from depyf.verify.terms import Term
from tests.verify.assemble import assemble
from tests.verify.test_rules import NearMiss, Take, replace, source


def keeps_symbols(self: Join, old: Term, new: Term) -> Term:
    """Keep an old symbol whatever it meets."""
    return old


def one_for_all(self: Join, old: Term, new: Term) -> Term:
    """Let a weaker value be one and the same, wherever it is."""
    weaker = self.terms.pure("weaker", ())
    self.is_less |= old != weaker
    return weaker


def keeps_tuples(self: Join, first: tuple[Term, ...], second: tuple[Term, ...]) -> tuple[Term, ...]:
    """Keep what was in a tuple."""
    return first


def keeps_contents(self: Join) -> dict[Term, object]:
    """Keep what was in objects."""
    return {mine: refilled(self.old.heap[mine], join.contents(self.old.heap[mine])) for mine, _ in self.to_fill}


def keeps_tests(self: Join) -> dict[Term, Term]:
    """Keep what was tested on the old way."""
    return {self.done.get((mine, mine), mine): truth for mine, truth in self.old.tested.items()}


def is_never_less(old: State, new: State, nested: list[tuple[Code, Code]]) -> tuple[State, bool]:
    """Join two states, and never go on from there again."""
    return join.meet(old, new, nested)[0], False


LOOP = "def f(a, b):\n x = y = a\n while b():\n  g({})\n  x = b.n\n return 1"
FLAG = "def f(a, b):\n x = 0\n while b():\n  g({})\n  x = 1\n return 1"
PAIR = "def f(a, b):\n x = (a, a)\n while b():\n  g(x[{}])\n  x = (a, b.n)\n return 1"
FILLED = "def f(a, b):\n x = [a]\n while b():\n  g({})\n  x[0] = b\n return 1"
WEAKER = "def f(a, b):\n x = y = 0\n while b():\n  g({})\n  x = b.n\n  y = b.m\n return 1"
TESTED = """
    LOAD_FAST a
    JUMP_IF_FALSE far
    LOAD_FAST b
    JUMP_IF_TRUE meet
    JUMP meet
    far: LOAD_FAST b
    GET_ITER
    POP
    meet: LOAD_FAST b
    {}
    on: CONST 1
    RETURN
"""
JOINS: list[tuple[str, str, str, Take]] = [
    (
        "values that were one may be two",
        LOOP.format("x"),
        LOOP.format("y"),
        replace(Join, "join_symbol", keeps_symbols),
    ),
    (
        "values of which nothing is known are not one",
        WEAKER.format("x"),
        WEAKER.format("y"),
        replace(Join, "weaker", one_for_all),
    ),
    (
        "a constant is no constant once it is another",
        FLAG.format("x"),
        FLAG.format("0"),
        replace(Join, "weaker", lambda self, old, new: old),
    ),
    ("what is in a tuple is joined", PAIR.format("1"), PAIR.format("0"), replace(Join, "terms_of", keeps_tuples)),
    ("what is in a list is joined", FILLED.format("x[0]"), FILLED.format("a"), replace(Join, "heap", keeps_contents)),
    (
        "less than was known is gone on from",
        FLAG.format("x"),
        FLAG.format("0"),
        replace(bisimulate, "meet", is_never_less),
    ),
]
NEAR_MISSES = [NearMiss(rule, source(mine), source(its), without) for rule, mine, its, without in JOINS]
NEAR_MISSES += [
    NearMiss(
        "a test is known that both ways have done last",
        assemble(TESTED.format("JUMP_IF_TRUE on")),
        assemble(TESTED.format("POP")),
        replace(Join, "tested", keeps_tests),
    ),
]


def proven(pair: NearMiss) -> str | None:
    """Return why two listings are not proven equivalent, None where they are."""
    return bisimulate.bisimulate(Flow(pair.original), Flow(pair.candidate), NO_ASSUMPTIONS).reason


@pytest.mark.parametrize("pair", NEAR_MISSES, ids=lambda pair: pair.rule)
def test_a_near_miss_is_not_proven(pair: NearMiss) -> None:
    assert proven(pair) is not None


@pytest.mark.parametrize("pair", NEAR_MISSES, ids=lambda pair: pair.rule)
def test_only_the_rule_keeps_it_out(pair: NearMiss, monkeypatch: pytest.MonkeyPatch) -> None:
    pair.without(monkeypatch)
    assert proven(pair) is None


@pytest.mark.parametrize("pair", NEAR_MISSES, ids=lambda pair: pair.rule)
def test_each_code_is_equivalent_to_itself(pair: NearMiss) -> None:
    for listing in (pair.original, pair.candidate):
        assert bisimulate.bisimulate(Flow(listing), Flow(listing), NO_ASSUMPTIONS).reason is None


MADE_AGAIN = "def f(a, b):\n x = lambda: 1\n while b():\n  b(x)\n  x = lambda: 1\n return 1"


def test_functions_of_one_code_are_those_of_two_codes() -> None:
    original, candidate = source(MADE_AGAIN), source(MADE_AGAIN)
    first, second = (item for item in original.instructions if isinstance(item.arg, Code))
    second.arg = first.arg
    outcome = bisimulate.bisimulate(Flow(original), Flow(candidate), NO_ASSUMPTIONS)
    codes = [item.arg for item in candidate.instructions if isinstance(item.arg, Code)]
    assert outcome.reason is None
    # Both pairs of codes are still to be compared.
    assert {(first.arg, code) for code in codes} <= set(outcome.nested)
