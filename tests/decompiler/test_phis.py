"""Phis that stand for one value go, and temporaries are renamed."""

from __future__ import annotations

import pytest

from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.lift.phis import remove_trivial_phis, rename, rename_block, settle_phis
from depyf.decompiler.show.graph import exit_text, text
from tests.decompiler.folding import graph_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): pass")
A = "block 0; v0 = LOAD_FAST 'a'; v9 = CONST 1; "
ONE_VALUE = {
    "both ways bring the same": f"{A}-> 1 (v0) if v0 else 2 (v0)\nblock 1 (v1); -> 3 (v1)\nblock 2 (v2); -> 3 (v2)\n"
    "block 3 (v3); return v3",
    "a loop brings its own": f"{A}-> 1 (v0)\nblock 1 (v1); v4 = CALL (); -> 1 (v1) if v4 else 2\nblock 2; return v1",
    "two that change places are the same": f"{A}-> 1 (v0, v0)\nblock 1 (v1, v2); v4 = CALL (); -> 1 (v2, v1) if v4 "
    "else 2\nblock 2; return v2",
    "blocks in another order": f"{A}-> 2 (v0)\nblock 1 (v1); -> 3 (v1)\nblock 2 (v2); -> 1 (v2)\n"
    "block 3 (v3); return v3",
}
TWO_VALUES = {
    "each way brings another": f"{A}-> 1 (v0) if v0 else 2 (v9)\nblock 1 (v1); -> 3 (v1)\nblock 2 (v2); -> 3 (v2)\n"
    "block 3 (v3); return v3",
    "a loop brings another": f"{A}-> 1 (v0)\nblock 1 (v3); v4 = CALL (); -> 1 (v9) if v4 else 2\nblock 2; return v3",
    "two that change places are not the same": f"{A}-> 1 (v0, v9)\nblock 1 (v1, v3); v4 = CALL (); -> 1 (v3, v1) if v4 "
    "else 2\nblock 2; return v3",
}


def result(graph: Graph) -> str:
    """Return what the last block returns."""
    return exit_text(graph.live()[-1].exit)


@pytest.mark.parametrize("what", ONE_VALUE)
def test_a_phi_that_stands_for_one_value_goes(what: str) -> None:
    graph = graph_of(ONE_VALUE[what], CODE)
    settle_phis(graph)
    assert result(graph) == "return v0"
    assert not any(block.phis for block in graph.live())


@pytest.mark.parametrize("what", TWO_VALUES)
def test_a_phi_of_two_values_stays(what: str) -> None:
    graph = graph_of(TWO_VALUES[what], CODE)
    settle_phis(graph)
    assert result(graph) == "return v3"
    assert 3 in graph.live()[-1].phis or 3 in graph.block(1).phis


def test_a_phi_that_others_hid_is_found_in_the_next_round() -> None:
    """v3 is taken for a phi of two values as long as v2 is taken for v0."""
    graph = graph_of(
        f"{A}-> 1 (v0)\nblock 1 (v1); v5 = CALL () v1; -> 3 (v1) if v5 else 2 (v1)\nblock 2 (v2); -> 3 (v2)\n"
        "block 3 (v3); v6 = CALL () v3; -> 4 (v9) if v6 else 5\nblock 4 (v4); -> 1 (v4)\nblock 5; return v3",
        CODE,
    )
    settle_phis(graph)
    assert result(graph) == "return v1"
    assert [block.phis for block in graph.live()] == [[], [1], [], [], [], []]


def test_what_lies_on_the_stack_and_is_kept_follows() -> None:
    graph = graph_of(
        f"{A}-> 1 (v0, v9)\nblock 1 (v1, v2)  [stack v1, v2]; KEEP 1 v0; KEEP 7 v1; v3 = UNARY '-' v1; "
        "-> 1 (v1, v3) if v3 else 2\nblock 2; return v1",
        CODE,
    )
    settle_phis(graph)
    block = graph.block(1)
    assert (block.stack, [(inst.op, inst.arg, inst.uses) for inst in block.insts][:2]) == (
        [0, 2],
        [("KEEP", 7, [0]), ("UNARY", "-", [0])],
    )


# -- handlers -----------------------------------------------------------------------------

HANDLER = (
    "block 0  [handler 0: block 1]; v0 = LOAD_FAST 'a'; v9 = CONST 1; {}\n"
    "block 1 (v1, v2); v5 = CALL () v1 v2; return v5"
)


def test_a_phi_of_a_handler_that_stands_for_one_value_goes() -> None:
    graph, args = graph_of(HANDLER.format("return v9"), CODE), {0: [[0, 0], [0, 9]]}
    remove_trivial_phis(graph, args)
    assert (args, graph.block(1).phis, graph.block(1).insts[0].uses) == ({0: [[0], [9]]}, [2], [0, 2])


def test_phis_of_handlers_stay_later() -> None:
    graph = graph_of(HANDLER.format("-> 1 (v0, v9)"), CODE)
    settle_phis(graph)
    assert graph.block(1).phis == [1, 2]


def test_a_handler_that_is_gone_has_no_phis() -> None:
    graph = graph_of(HANDLER.format("-> 2 (v0)") + "\nblock 2 (v3); return v3", CODE)
    graph.blocks[1] = None
    settle_phis(graph)
    assert result(graph) == "return v0"


# -- other names ----------------------------------------------------------------------------

EXITS = {
    "return v1": "return v0",
    "raise v1, v2": "raise v0, v2",
    "reraise v1": "reraise v0",
    "-> 1 (v1) if v1 else 2": "-> 1 (v0) if v0 else 2",
    "-> for v5 in v1: 1 (v1), else 2": "-> for v5 in v0: 1 (v0), else 2",
    "-> async for v5 in v1: 1 (v1), else 2": "-> async for v5 in v0: 1 (v0), else 2",
    "-> 1 (v1)": "-> 1 (v0)",
    "return v2": "return v2",
}


@pytest.mark.parametrize("exit_", EXITS)
def test_exits_are_renamed(exit_: str) -> None:
    graph = graph_of(f"block 0; {exit_}\nblock 1 (v3); return v3\nblock 2; return", CODE)
    rename(graph, {1: 7, 7: 0})
    assert exit_text(graph.block(0).exit) == EXITS[exit_]


def test_operations_and_stacks_are_renamed() -> None:
    graph = graph_of("block 0  [stack v1, v2]; v3 = CALL () v1 v2; return v3", CODE)
    rename(graph, {1: 0})
    assert (graph.block(0).stack, graph.block(0).insts[0].uses) == ([0, 2], [0, 2])


def test_in_one_block_what_is_made_is_renamed_too() -> None:
    graph = graph_of("block 0  [stack v1]; v1 = CONST 1; v2 = CALL () v1; -> 1 (v1)\nblock 1 (v3); return v1", CODE)
    rename_block(graph.block(0), {1: 7})
    assert " ".join(text(graph).split()) == (
        "block 0 v7 = CONST 1 v2 = CALL () v7 -> 1 (v7) block 1 (v3) return v1"
    )
    assert graph.block(0).stack == [7]
