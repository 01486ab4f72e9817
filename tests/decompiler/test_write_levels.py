"""A graph as one `try` of two levels: how exceptions get to their handlers, and which of them need a name."""

from __future__ import annotations

import ast

from depyf.decompiler.structure.collapse import count_uses
from depyf.decompiler.structure.dispatch.levels import Levels, Switch
from depyf.decompiler.structure.dispatch.write_levels import LevelWriter
from tests.decompiler.folding import graph_of
from tests.decompiler.parsed import shown
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")
RAISES = "block 0  [handler 0: block 2]; v0 = LOAD_GLOBAL 'g'; return v0\n"
HANDLED = RAISES + """block 2; v3 = PUSH_EXC_INFO v2; -> 3
block 3 [stack v3]; v4 = LOAD_GLOBAL 'E'; v5 = CHECK_EXC_MATCH {} v4; -> 4 if v5 else 5
block 4 [stack v3]; POP_EXCEPT v3; -> 6
block 5 [stack v3]; reraise {}
block 6; return"""
NEXT_IN_A_HANDLER = RAISES + """block 2; v3 = PUSH_EXC_INFO v2; -> 3
block 3 [stack v3]; v5 = PUSH_EXC_INFO v4; -> 4
block 4 [stack v3, v5]; POP_EXCEPT v5; -> {}
block 5 [stack v3]; v7 = PUSH_EXC_INFO v6; -> 6
block 6 [stack v3, v7]; POP_EXCEPT v7; -> 7
block 7 [stack v3]; POP_EXCEPT v3; -> 8
block 8; return"""


def finish(stmts: list[ast.stmt]) -> list[ast.stmt]:
    return stmts


def writer_of(text: str, *, gathers: bool = False) -> LevelWriter:
    """Return what writes a graph, whose handlers have the exception v2."""
    graph = graph_of(text, CODE)
    for entry in graph.handlers:
        entry.exc = 2
    return LevelWriter(graph, Levels(graph, gathers=gathers), count_uses(graph), finish)


def text_of(text: str) -> str:
    return shown(writer_of(text).run())


def rows_of(text: str) -> list[str]:
    return [row.strip() for row in text_of(text).splitlines()]


def test_the_current_exception_needs_no_name_to_be_tested_or_raised_again() -> None:
    assert 2 not in writer_of(HANDLED.format("v2", "v2")).named


def test_another_exception_needs_a_name_to_be_tested() -> None:
    assert 9 in writer_of(HANDLED.format("v9", "v2")).named


def test_another_exception_needs_a_name_to_be_raised_again() -> None:
    assert 9 in writer_of(HANDLED.format("v2", "v9")).named


def test_an_exception_that_is_handled_again_is_switched_to() -> None:
    switches = writer_of(NEXT_IN_A_HANDLER.format(7)).switches
    assert {(switch.exc, switch.target) for switch in switches} >= {(5, 7)}


def test_it_is_not_switched_to_where_the_next_one_is_marked_at_once() -> None:
    switches = writer_of(NEXT_IN_A_HANDLER.format(5)).switches
    assert {(switch.exc, switch.target) for switch in switches} >= {(6, 5), (7, 7)}
    assert Switch(5, 5) not in switches


def test_the_way_to_code_that_marks_an_exception_is_a_switch() -> None:
    writer = writer_of(NEXT_IN_A_HANDLER.format(5))
    graph = writer.graph
    number = writer.numbers[Switch(4, 3)]
    assert shown(writer.go(3, graph.block(2))).splitlines()[-1].endswith(f"= {number}")


def test_code_without_an_end_is_an_arm_that_does_nothing() -> None:
    never = RAISES.replace("return v0", "-> 1 if v0 else 2") + "block 1; never comes here\nblock 2; return"
    assert "pass" in rows_of(never.replace("  [handler 0: block 2]", ""))


def test_a_handler_that_marks_nothing_keeps_its_exception() -> None:
    rows = rows_of(RAISES + "block 2; v3 = LOAD_GLOBAL 'h'; v4 = CALL () v3 v2; return v4")
    assert any(row.startswith("v2 = ") for row in rows)


def test_a_handler_that_marks_another_exception_switches_to_it() -> None:
    text = RAISES + "block 2; v3 = PUSH_EXC_INFO v9; -> 3\nblock 3 [stack v3]; POP_EXCEPT v3; -> 4\nblock 4; return"
    writer = writer_of(text)
    number = writer.numbers[Switch(9, 2)]
    assert any(row.strip().endswith(f"= {number}") for row in shown(writer.run()).splitlines())


def test_a_handler_that_returns_at_once() -> None:
    assert "return" in rows_of(RAISES + "block 2; return")


def test_a_handler_that_comes_back_to_itself() -> None:
    assert "return g" in text_of(RAISES + "block 2; -> 2")


def test_an_exception_that_is_passed_on_is_handled_under_its_other_name() -> None:
    passed = RAISES + "block 2; -> 3 (v2, v0)\nblock 3 (v6, v7); v3 = PUSH_EXC_INFO v6; -> 4"
    writer = writer_of(passed + "\nblock 4 [stack v3]; POP_EXCEPT v3; -> 5\nblock 5; return")
    rows = [row.strip() for row in shown(writer.run()).splitlines()]
    assert rows[rows.index("v6, v7 = v2, v0") + 1].endswith(f" = {writer.numbers[3]}")


def test_an_exception_that_was_thrown_where_groups_are_gathered_loses_an_entry_of_its_traceback() -> None:
    """What was raised by an operation has no such entry."""
    raises_again = "block 0  [handler 0: block 2]; {}\nblock 2; return"
    alone, with_more = (raises_again.format(rows) for rows in ("reraise v9", "v0 = LOAD_GLOBAL 'g'; reraise v9"))
    untraced = [shown(writer_of(text, gathers=True).run()).count("<Object>()\n") for text in (alone, with_more)]
    assert untraced == [1, 0]
