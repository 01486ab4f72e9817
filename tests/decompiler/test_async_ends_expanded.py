"""Ends of asynchronous loops that end no loop become tests: graphs as text."""

from __future__ import annotations

from depyf.decompiler.show.graph import text
from depyf.decompiler.show.read_graph import read_graph
from depyf.decompiler.structure.regions.async_ends import expand_async_ends
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): pass")
PLAIN = "block 0 [stack v1, v2]; v0 = CALL (); END_ASYNC_FOR v1 v2; POP v0; return v0\nblock 1; v1 = CALL (); return\n"
OWN = "block 0 [handler 0: block 1]; v1 = CALL (); return v1\nblock 1; END_ASYNC_FOR v1 v2; return\n"


def expanded(shown: str, *, keep_handlers: bool = False) -> str:
    graph = read_graph(shown.replace("; ", "\n  "), CODE)
    expand_async_ends(graph, keep_handlers=keep_handlers)
    stacks = " ".join(f"{block.index}{block.stack}" for block in graph.live() if block.stack)
    return " ".join(f"{text(graph)} {stacks}".split())


def test_an_end_becomes_a_test() -> None:
    tree = expanded(PLAIN)
    assert tree == (
        "block 0 v0 = CALL () v3 = CONST <class 'StopAsyncIteration'> v4 = CHECK_EXC_MATCH v2 v3 -> 2 if v4 else 3 "
        "block 1 v1 = CALL () return block 2 POP v0 return v0 block 3 reraise v2 0[1, 2] 3[1, 2]"
    )


def test_several_ends_in_one_block() -> None:
    tree = expanded("block 0; v1 = CALL (); END_ASYNC_FOR v1 v2; END_ASYNC_FOR v1 v2; return v1\n")
    assert tree.count("CHECK_EXC_MATCH") == 2
    assert "END_ASYNC_FOR" not in tree


def test_what_a_handler_begins_with_is_its_own() -> None:
    assert "CHECK_EXC_MATCH" in expanded(OWN)
    assert "CHECK_EXC_MATCH" not in expanded(OWN, keep_handlers=True)


def test_what_is_not_a_handlers_own() -> None:
    later = OWN.replace("END_ASYNC_FOR", "v5 = CALL (); END_ASYNC_FOR")
    assert "CHECK_EXC_MATCH" in expanded(later, keep_handlers=True)
    other = OWN.replace("block 1; END_ASYNC_FOR v1 v2", "block 1; END_ASYNC_FOR v2 v1")
    assert "CHECK_EXC_MATCH" in expanded(other, keep_handlers=True)
    elsewhere = OWN.replace("v1 = CALL ();", "v1 = CALL (); END_ASYNC_FOR v1 v2;")
    assert expanded(elsewhere, keep_handlers=True).count("CHECK_EXC_MATCH") == 1


def test_what_ends_no_loop_stays() -> None:
    assert expanded("block 0; v1 = CALL (); return v1\n") == "block 0 v1 = CALL () return v1"
