"""What a block becomes: its statements, and the jumps along its edges."""

from __future__ import annotations

import pytest

from depyf.decompiler.graph.tac import Goto
from depyf.decompiler.show import tree
from depyf.decompiler.structure.collapse import count_uses
from depyf.decompiler.structure.nodes import items_of, jump_along
from tests.decompiler.folding import folded, graph_of
from tests.decompiler.parsed import GRAMMAR
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b): return g")


@pytest.mark.parametrize(
    ("edge", "phis", "given"),
    [
        ("", "", "goto 1\n"),
        (" (v1)", " (v3)", "v3 = v1\ngoto 1\n"),
        (" (v1, v2)", " (v3, v4)", "v3, v4 = v1, v2\ngoto 1\n"),
        (" (v1, v2)", " (v1, v4)", "v4 = v2\ngoto 1\n"),
        (" (v1, v2)", " (v1, v2)", "goto 1\n"),
    ],
)
def test_a_jump_after_assignments(edge: str, phis: str, given: str) -> None:
    graph = graph_of(f"block 0; -> 1{edge}\nblock 1{phis}; return", CODE)
    exit_ = graph.block(0).exit
    assert isinstance(exit_, Goto)
    assert tree.text(jump_along(graph, exit_.edge), GRAMMAR) == given


TESTED = "block 0; {}; -> 1 if v1 else 2\nblock 1; return\nblock 2; return"


@pytest.mark.parametrize(
    ("rows", "first"),
    [
        ("v1 = LOAD_FAST 'a'", "if a:"),
        ("v1 = LOAD_FAST 'a'; v2 = CALL () v9; POP v2", "if a:"),
        ("v1 = LOAD_GLOBAL 'g'; v2 = CALL () v9", "v1 = g"),
    ],
)
def test_a_test_is_the_last_value(rows: str, first: str) -> None:
    assert first in folded(TESTED.format(rows), CODE)


def test_the_head_of_a_loop_is_its_statements_alone() -> None:
    head = "block 0; v0 = LOAD_FAST 'a'; v1 = CALL () v0; STORE_FAST 'b' v1; -> for v2 in v9: 1, else 2"
    graph = graph_of(f"{head}\nblock 1; -> 0\nblock 2; return", CODE)
    assert tree.text(items_of(graph, graph.block(0), count_uses(graph)), GRAMMAR) == "b = a()\n"


@pytest.mark.parametrize(
    ("rows", "value", "given"),
    [
        ("v2 = LOAD_FAST 'b'; v1 = LOAD_FAST 'a'", "v2", "v2 = b\nif a:"),
        ("v1 = LOAD_FAST 'a'; v2 = LOAD_FAST 'b'", "v2", "v1 = a\nv2 = b\nif v1:"),
        ("v1 = LOAD_GLOBAL 'g'", "v1", "v1 = g\nif v1:"),
        ("v1 = LOAD_FAST 'a'; STORE_FAST 'b' v1", "", "if (b := a):"),
    ],
)
def test_what_is_used_again_is_assigned_before_a_test(rows: str, value: str, given: str) -> None:
    assert folded(TESTED.replace("return", f"return {value}").format(rows), CODE).startswith(given)
