"""Names of the items that a call is known to return, and sequences of one item."""

from __future__ import annotations

import pytest

from depyf.decompiler.lift.simplify.results import unpack_results
from depyf.decompiler.show.graph import text
from tests.decompiler.folding import graph_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return graph")
CALL = "v0 = LOAD_GLOBAL 'graph'; v1 = CALL () v0; "
ITEM = f"block 0; {CALL}v2 = CONST 0; v3 = LOAD_SUBSCR v1 v2; return v3"


def rows(shown: str, names: tuple[str, ...]) -> list[str]:
    graph = graph_of(shown, CODE)
    unpack_results(graph, {"graph": names})
    return [" ".join(row.split()) for row in text(graph).splitlines()[3:]]


@pytest.mark.parametrize(
    ("name", "hints"), [("loss", {4: "loss"}), ("a b", {}), ("class", {})], ids=["a name", "no name", "a keyword"]
)
def test_an_item_is_named_if_it_can_be(name: str, hints: dict[int, str]) -> None:
    graph = graph_of(ITEM, CODE)
    unpack_results(graph, {"graph": (name, "b c")})
    assert graph.hints == hints


def test_the_only_item_is_taken_by_its_number() -> None:
    taken = ["v4 = CONST 0", "v2 = LOAD_SUBSCR v1 v4", "return v2"]
    lines = rows(f"block 0; {CALL}v3 = CONST 1; v2 = UNPACK_SEQUENCE 1 v1; return v2", ("a",))
    assert lines == ["v3 = CONST 1", *taken]


@pytest.mark.parametrize(
    ("shown", "names"),
    [
        ("v2 v3 = UNPACK_SEQUENCE 2 v1; return v3", ("a",)),
        ("v2 = UNPACK_SEQUENCE 1 v1; return v2", ("a", "b")),
        ("v2 = UNPACK_SEQUENCE 1 v0; return v2", ("a",)),
        ("v2 = GET_ITER v1; return v2", ("a",)),
    ],
    ids=["two targets", "two items", "another sequence", "no unpacking"],
)
def test_what_is_no_sequence_of_one_item_stays(shown: str, names: tuple[str, ...]) -> None:
    assert rows(f"block 0; {CALL}{shown}", names) == shown.split("; ")
