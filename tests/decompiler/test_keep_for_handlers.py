"""What handlers find on the stack: which values are read, what is kept for a handler, and what goes again."""

from __future__ import annotations

import pytest

from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.lift.keep import drop_unread, read_temps, take_kept
from depyf.decompiler.show.graph import text
from depyf.decompiler.show.read_graph import read_graph
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): pass")


def graph_of(shown: str) -> Graph:
    return read_graph(shown.replace("; ", "\n  "), CODE)


READ = {
    "block 0; v0 = CONST 1; v1 = CALL () v0; return v1\n": {0, 1},
    "block 0; v0 = CONST 1; POP v0; return\n": {-1},
    "block 0; v0 = CONST 1; POP_EXCEPT v0; return\n": {-1},
    "block 0; v0 = CONST 1; v1 = PUSH_EXC_INFO v0; return\n": {-1},
    "block 0; v0 = CONST 1; -> 1 (v0)\nblock 1 (v1); return v1\n": {0, 1},
    "block 0; v0 = CONST 1; -> 1 (v0)\nblock 1 (v1); return\n": {-1},
    "block 0; v0 = CONST 1; -> 1 (v0)\nblock 1 (v1); -> 2 (v1)\nblock 2 (v2); return v2\n": {0, 1, 2},
    "block 0; v0 = CONST 1; -> 1 (v0)\nblock 1 (v1); -> 1 (v1) if v1 else 2\nblock 2; return\n": {-1, 0, 1},
    "block 0; v0 = CONST 1; KEEP 5 v0; -> 1 (v0)\nblock 1 (v5); return v5\n": {0, 5},
    "block 0; v0 = CONST 1; KEEP 5 v0; return\n": {-1},
    "block 0; v0 = CONST 1; v1 = CONST 2; KEEP 5 v0; KEEP 5 v1; v6 = CALL () v5; return v6\n": {0, 1, 5, 6},
}


@pytest.mark.parametrize("shown", READ)
def test_what_is_read(shown: str) -> None:
    assert read_temps(graph_of(shown)) == READ[shown]


def test_what_is_handled_again_is_read() -> None:
    graph = graph_of("block 0; v0 = CONST 1; -> 1 (v0)\nblock 1 (v1); return\n")
    assert read_temps(graph, [1]) == {-1, 0, 1}


PROTECTED = "block 0  [handler 0: block 1]; v0 = CALL (); return v0\nblock 1 (v3, v4); {}return v3\n"


def kept(shown: str, slots: list[int], phis: list[int]) -> str:
    graph = graph_of(shown)
    graph.handlers[0].slots, graph.handlers[0].phis = slots, phis
    take_kept(graph)
    return " ".join(text(graph).partition("\nblock 1")[2].split())


def test_a_handler_begins_with_what_was_kept_for_it() -> None:
    assert kept(PROTECTED.format(""), [7, 8], [3, 4]) == "(v3, v4) KEEP 3 v7 KEEP 4 v8 return v3"
    rows = kept(PROTECTED.format("v5 = CALL (); "), [7, 8], [3, 4])
    assert rows == "(v3, v4) KEEP 3 v7 KEEP 4 v8 v5 = CALL () return v3"


def test_what_is_kept_comes_behind_the_exception() -> None:
    rows = kept(PROTECTED.format("v5 = PUSH_EXC_INFO v6; "), [7, 8], [3, 4])
    assert rows == "(v3, v4) v5 = PUSH_EXC_INFO v6 KEEP 3 v7 KEEP 4 v8 return v3"


def test_what_is_no_phi_any_more_is_not_kept() -> None:
    assert kept(PROTECTED.format(""), [7, 8], [9, 4]) == "(v3, v4) KEEP 4 v8 return v3"
    assert kept(PROTECTED.format(""), [], [3, 4]) == "(v3, v4) return v3"


def test_a_handler_that_is_gone_takes_nothing() -> None:
    graph = graph_of(PROTECTED.format(""))
    graph.handlers[0].slots, graph.handlers[0].phis = [7], [3]
    graph.blocks[1] = None
    take_kept(graph)
    assert "KEEP" not in text(graph)


KEEPING = (
    "block 0  [handler 0: block 1]; v0 = CONST 1; KEEP 3 v0; KEEP 4 v0; v1 = CALL () v0; return v1\n"
    "block 1 (v3, v4); POP v4; return v3\n"
)


def dropped(shown: str, restored: tuple[int, ...] = ()) -> list[object]:
    graph = graph_of(shown)
    drop_unread(graph, restored)
    return [inst.arg if inst.op == "KEEP" else inst.op for inst in graph.block(0).insts]


def test_what_no_handler_reads_is_not_kept() -> None:
    assert dropped(KEEPING) == ["CONST", 3, "CALL"]
    assert dropped(KEEPING, (4,)) == ["CONST", 3, 4, "CALL"]


def test_without_handlers_nothing_is_dropped() -> None:
    assert dropped(KEEPING.replace("  [handler 0: block 1]", "")) == ["CONST", 3, 4, "CALL"]
