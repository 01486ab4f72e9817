"""Which conditions are heads of cases and clauses, and which nest too deep."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.graph.tac import Inst
from depyf.decompiler.lift.nodes import PURE, Entry, ExcMatch, MatchTest, Ref, Temp
from depyf.decompiler.structure.compounds import Compound
from depyf.decompiler.structure.patterns.tested import MAX_NESTED, Conditions
from tests.decompiler.folding import graph_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): pass")


def pending(expr: ast.expr) -> Entry:
    return Entry(0, expr, PURE, frozenset(), frozenset(), 1, None)


def pattern(subject: int) -> MatchTest:
    return MatchTest(subject=Temp(temp=subject), pattern=ast.MatchAs())


def conditions(*, last: Inst | None = None) -> Conditions:
    """Return what is known of a graph whose first block ends with an operation."""
    graph = graph_of("block 0; v0 = CALL (); return v0", CODE)
    graph.block(0).insts += [] if last is None else [last]
    return Conditions(graph)


def compound(is_match: bool, subject: int = 5, subject_value: int = 9) -> Inst:
    content = Compound(lambda parts: parts[0], PURE, frozenset(), frozenset(), is_match)
    return Inst("EXPR", content, [subject], [subject_value], None, -1)


# -- heads ------------------------------------------------------------------------------------

PLAIN = ast.Name("a", ast.Load())
CLAUSE = ExcMatch(exc=PLAIN, type=PLAIN, star=False)
HEADS = {
    "a pattern": pattern(1),
    "a pattern that is referred to": Ref(entry=pending(pattern(1))),
    "a pattern and something": ast.BoolOp(ast.And(), [pattern(1), PLAIN]),
    "something and a pattern": ast.BoolOp(ast.And(), [PLAIN, pattern(1)]),
    "two patterns": ast.BoolOp(ast.Or(), [pattern(1), pattern(2)]),
    "a negated pattern": ast.UnaryOp(ast.Not(), pattern(1)),
    "a pattern that decides": ast.IfExp(pattern(1), pattern(2), pattern(3)),
    "a pattern in the body": ast.IfExp(PLAIN, pattern(1), pattern(3)),
    "a pattern in the alternative": ast.IfExp(PLAIN, PLAIN, pattern(1)),
}


@pytest.mark.parametrize("what", HEADS)
def test_the_subject_of_the_first_pattern(what: str) -> None:
    subject = conditions().first_subject(pending(HEADS[what]))
    assert isinstance(subject, Temp) and subject.temp == 1


def test_the_test_of_a_clause_is_its_own_subject() -> None:
    assert conditions().first_subject(pending(ast.BoolOp(ast.And(), [PLAIN, CLAUSE]))) is CLAUSE


@pytest.mark.parametrize("expr", [PLAIN, ast.BoolOp(ast.And(), [PLAIN, PLAIN]), ast.Call(pattern(1), [], [])])
def test_other_conditions_have_no_subject(expr: ast.expr) -> None:
    known = conditions()
    assert known.first_subject(pending(expr)) is None
    whole = ast.BoolOp(ast.Or(), [expr, pattern(1)])
    assert isinstance(known.first_subject(pending(whole)), Temp)


def test_nothing_has_no_subject() -> None:
    assert conditions().first_subject(None) is None


# -- cases ------------------------------------------------------------------------------------


def begins_case(arm: ast.expr, last: Inst, *, arm_when: bool = False, is_natural: bool = True, joined: int = 0) -> bool:
    graph = graph_of("block 0; v0 = CALL (); return v0", CODE)
    graph.block(0).insts.append(last)
    known = Conditions(graph)
    known.join(9, joined)
    return known.begins_case(graph.block(0), joined or 9, pending(arm), arm_when, is_natural)


def test_an_alternative_pattern_begins_no_case() -> None:
    assert not begins_case(pattern(5), compound(True))


@pytest.mark.parametrize(
    ("subject", "arm_when", "is_natural"), [(6, False, True), (5, True, True), (5, False, False)],
    ids=["another subject", "behind a success", "one of them is negated"],
)
def test_another_pattern_begins_a_case(subject: int, arm_when: bool, is_natural: bool) -> None:
    assert begins_case(pattern(subject), compound(True), arm_when=arm_when, is_natural=is_natural)


def test_a_clause_begins_a_case() -> None:
    assert begins_case(CLAUSE, compound(True))


def test_a_pattern_begins_a_case_behind_a_test_without_operations() -> None:
    graph = graph_of("block 0; return v0", CODE)
    assert Conditions(graph).begins_case(graph.block(0), 9, pending(pattern(5)), False, True)


@pytest.mark.parametrize(
    ("is_match", "arm_when", "begins"), [(True, False, True), (True, True, False), (False, False, False)],
    ids=["a guard", "a part of the guard", "an alternative"],
)
def test_a_test_where_a_pattern_has_failed_is_the_guard_of_a_case(is_match: bool, arm_when: bool, begins: bool) -> None:
    assert begins_case(PLAIN, compound(is_match), arm_when=arm_when) is begins
    assert begins_case(PLAIN, compound(is_match), arm_when=arm_when, joined=12) is begins


# -- depth ------------------------------------------------------------------------------------


def nested(levels: int, *, turns: bool = True) -> tuple[Conditions, ast.expr]:
    """Return a condition that grows outwards, and what is known of its parts."""
    known, subject = conditions(), ast.BoolOp(ast.And(), [PLAIN, PLAIN])
    for level in range(levels - 1):
        assert not known.is_deep(pending(subject))
        op = ast.Or() if turns and level % 2 == 0 else ast.And()
        subject = ast.BoolOp(op, [PLAIN, ast.UnaryOp(ast.Not(), Ref(entry=pending(subject)))])
    return known, subject


def test_a_condition_may_nest_so_deep() -> None:
    known, expr = nested(MAX_NESTED)
    assert not known.is_deep(pending(expr))
    known, expr = nested(MAX_NESTED + 1)
    assert known.is_deep(pending(expr))


def test_the_same_operator_needs_no_brackets() -> None:
    known, expr = nested(MAX_NESTED + 9, turns=False)
    assert not known.is_deep(pending(expr))


def test_what_is_no_condition_is_not_deep() -> None:
    assert not conditions().is_deep(None)
    assert not conditions().is_deep(pending(PLAIN))
