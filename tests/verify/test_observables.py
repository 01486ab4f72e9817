"""What a program can observe, one pair of functions for each kind: neither stands for the other."""

from __future__ import annotations

import sys
import textwrap
from types import CodeType

import pytest

from depyf.bytecode.code import Code
from depyf.bytecode.reader import read
from depyf.verify.compare import verify
from depyf.verify.level import Level
from tests.verify.assemble import view
from tests.verify.observables import PAIRS, Pair


def function(body: str) -> Code:
    """Return the code of a function with these statements."""
    return view("def f(a, b, c):\n" + textwrap.indent(body, "    "))


def can_run(pair: Pair) -> bool:
    """Return whether this Python's grammar has what a pair is written in."""
    return sys.version_info >= pair.since


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if can_run(pair)], ids=lambda pair: pair.kind)
def test_what_can_be_observed_is_proven_of_no_pair_that_differs_in_it(pair: Pair) -> None:
    original, candidate = function(pair.original), function(pair.candidate)
    assert verify(original, candidate).level is Level.UNPROVEN
    assert verify(candidate, original).level is Level.UNPROVEN


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if can_run(pair)], ids=lambda pair: pair.kind)
def test_each_of_a_pair_is_the_same_as_itself(pair: Pair) -> None:
    for text in (pair.original, pair.candidate):
        assert verify(function(text), function(text)).level is Level.EXACT


def test_each_kind_of_thing_has_a_pair_of_its_own() -> None:
    kinds = [pair.kind for pair in PAIRS]
    assert len(kinds) >= 70 and len(set(kinds)) == len(kinds)


def test_what_compiled_code_inherits_is_compared() -> None:
    plain = "def f(a): return exec(a)"
    heads = "", "from __future__ import annotations\n"
    codes = [compile(head + plain, "<test>", "exec", dont_inherit=True) for head in heads]
    mine, its = (read(next(const for const in code.co_consts if isinstance(const, CodeType))) for code in codes)
    assert verify(mine, its).level is Level.UNPROVEN
