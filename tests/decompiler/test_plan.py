"""The decisions before dispatch is written: which exception is the current one, what needs a name or a state."""

from __future__ import annotations

from depyf.decompiler.structure.collapse import count_uses
from depyf.decompiler.structure.dispatch.markers import Markers
from depyf.decompiler.structure.dispatch.plan import Plan
from depyf.decompiler.structure.dispatch.scopes import Scopes
from tests.decompiler.folding import graph_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")
HANDLED = """block 0  [handler 0: block 2]; v0 = LOAD_GLOBAL 'g'; v1 = CALL () v0; return v1
block 2; v3 = PUSH_EXC_INFO v2; -> 3
block 3 [stack v3]; v4 = LOAD_GLOBAL 'E'; v5 = CHECK_EXC_MATCH {} v4; -> 4 if v5 else 5
block 4 [stack v3]; POP_EXCEPT v3; -> 6
block 5 [stack v3]; reraise {}
block 6; v7 = LOAD_GLOBAL 'g'; -> 7
block 7; return v7"""
WITH = """block 0; v0 = LOAD_GLOBAL 'm'; v1 v2 = ENTER_WITH v0; -> 1
block 1  [handler 0: block 3]; v3 = LOAD_GLOBAL 'g'; POP v3; -> 2
block 2; EXIT_WITH v1; return
block 3; -> 4
block 4; v5 = LOAD_GLOBAL 'h'; return v5"""


def plan_of(text: str, *withs: int) -> Plan:
    """Return the plan of a graph; withs: the handlers of statements that block 0 enters."""
    graph = graph_of(text, CODE)
    scopes = Scopes(graph, Markers(graph), set(withs))
    return Plan(graph, scopes, {handler: graph.block(0) for handler in withs}, count_uses(graph))


def handled(tested: str = "v2", raised: str = "v2") -> Plan:
    return plan_of(HANDLED.format(tested, raised))


def test_an_exception_is_current_where_it_has_just_been_caught_and_where_it_is_being_handled() -> None:
    plan = handled()
    assert {block.index for block in plan.graph.live() if plan.is_current(block, 2)} == {2, 3, 4, 5}


def test_another_exception_is_not_the_current_one() -> None:
    plan = handled()
    assert not any(plan.is_current(block, 9) for block in plan.graph.live())


def test_an_exception_is_current_at_the_start_of_its_own_handler_alone() -> None:
    """Before it is marked as being handled, no marker tells so."""
    plan = plan_of("block 0  [handler 0: block 2]; v0 = LOAD_GLOBAL 'g'; return v0\nblock 2; reraise v2")
    assert [plan.is_current(plan.graph.block(index), 2) for index in (0, 2)] == [False, True]
    assert not plan.is_current(plan.graph.block(2), 9)


def test_the_current_exception_needs_no_name_to_be_tested_or_raised_again() -> None:
    assert 2 not in handled().named


def test_another_exception_needs_a_name_to_be_tested() -> None:
    assert 9 in handled(tested="v9").named


def test_another_exception_needs_a_name_to_be_raised_again() -> None:
    assert 9 in handled(raised="v9").named


def test_a_handler_that_marks_its_exception_before_it_raises_it_again_is_not_straight() -> None:
    marked = "block 0  [handler 0: block 2]; v0 = LOAD_GLOBAL 'g'; return v0\nblock 2; {}reraise v2"
    assert plan_of(marked.format("")).is_straight(0)
    assert not plan_of(marked.format("v3 = PUSH_EXC_INFO v2; ")).is_straight(0)


def test_where_a_with_continues_after_an_exception_has_a_state() -> None:
    plan = plan_of(WITH, 0)
    assert 4 in plan.numbers
    assert 3 not in plan.numbers
