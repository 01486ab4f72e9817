"""Whether two pieces of a graph are copies of one: blocks 1 and 2 of a graph as text."""

from __future__ import annotations

import pytest

from depyf.decompiler.show.read_graph import read_graph
from depyf.decompiler.structure.regions.same import LIMIT, same_code
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b, c): pass")
HEAD = "block 0\n  v0 = LOAD_FAST 'a'\n  v1 = LOAD_FAST 'b'\n  -> 1 if v0 else 2\n"


def same(first: str, second: str, rest: str = "") -> bool:
    """Return whether two blocks do the same; each is given without its head."""
    shown = f"{HEAD}block 1{first}\nblock 2{second}\n{rest}"
    graph = read_graph(shown.replace("; ", "\n  "), CODE)
    return same_code(graph, graph.block(1), graph.block(2))


END = "block 3\n  return v0\n"
ENDS = "block 3\n  return v0\nblock 4\n  return v1\n"
ENDS_ALIKE = "block 3\n  return v0\nblock 4\n  return v0\n"
HANDLERS = (
    "block 3\n  v20 = CALL () v0\n  return v20\nblock 4 [handler 0: block 7]\n  v21 = CALL () v0\n  return v21\n"
    "block 5 [handler 1: block 8]\n  v22 = CALL () v0\n  return v22\nblock 7\n  reraise v50\nblock 8\n  reraise v51\n"
)
SAME = {
    "one value": ("; return v0", "; return v0", ""),
    "values made": ("; v2 = CALL () v0; return v2", "; v3 = CALL () v0; return v3", ""),
    "one of them drops a value": ("; POP v0; return v1", "; return v1", ""),
    "blocks where both end": ("; -> 3", "; -> 3", END),
    "copies further on": ("; -> 3", "; -> 4", ENDS_ALIKE),
    "tests": ("; -> 3 if v0 else 4", "; -> 3 if v0 else 4", ENDS),
    "tests of copies": ("; -> 3 if v0 else 4", "; -> 4 if v0 else 3", ENDS_ALIKE),
    "what phis take": ("; -> 3 (v0)", "; -> 4 (v0)", "block 3 (v5)\n  return v5\nblock 4 (v6)\n  return v6\n"),
    "what phis take where both end": ("; -> 3 (v0)", "; -> 3 (v0)", "block 3 (v5)\n  return v5\n"),
    "what phis are called": (
        "; -> 3 (v0)",
        "; -> 4 (v0)",
        "block 3 (v5)\n  v7 = CALL () v5\n  return v7\nblock 4 (v6)\n  v8 = CALL () v6\n  return v8\n",
    ),
    "loops": ("; v2 = CALL () v0; -> 1 if v2 else 3", "; v3 = CALL () v0; -> 2 if v3 else 3", END),
    "exceptions": ("; raise v0", "; raise v0", ""),
    "an arm that is a copy of what both share": ("; -> 3 if v0 else 3", "; -> 3 if v0 else 4", ENDS_ALIKE),
    "exceptions raised again": ("; reraise v0", "; reraise v0", ""),
}
OTHER = {
    "other values": ("; return v0", "; return v1", ""),
    "other values of tests": ("; -> 3 if v0 else 3", "; -> 3 if v1 else 3", END),
    "other operations": ("; v2 = CALL () v0; return v2", "; v3 = GET_ITER v0; return v3", ""),
    "other arguments": ("; v2 = LOAD_ATTR 'a' v0; return v2", "; v3 = LOAD_ATTR 'b' v0; return v3", ""),
    "other operands": ("; v2 = CALL () v0; return v2", "; v3 = CALL () v1; return v3", ""),
    "more in the second": ("; return v0", "; v2 = CALL () v0; return v0", ""),
    "more in the first": ("; v2 = CALL () v0; return v0", "; return v0", ""),
    "more values": ("; v2 = CALL () v0; return v0", "; v3 v4 = CALL () v0; return v0", ""),
    "other ends": ("; return v0", "; raise v0", ""),
    "a return and an exception raised again": ("; return v0", "; reraise v0", ""),
    "an end and a way on": ("; return v0", "; -> 3", END),
    "other blocks further on": ("; -> 3", "; -> 4", ENDS),
    "the arms of a test": ("; -> 3 if v0 else 4", "; -> 4 if v0 else 3", ENDS),
    "one arm of a test": ("; -> 3 if v0 else 4", "; -> 3 if v0 else 3", ENDS),
    "the other arm of a test": ("; -> 3 if v0 else 4", "; -> 4 if v0 else 4", ENDS),
    "loops over values": (
        "; -> for v5 in v0: 3, else 4", "; -> for v6 in v0: 3, else 4", ENDS,
    ),
    "what phis take": ("; -> 3 (v0)", "; -> 4 (v1)", "block 3 (v5)\n  return v0\nblock 4 (v6)\n  return v0\n"),
    "what phis take where both end": ("; -> 3 (v0)", "; -> 3 (v1)", "block 3 (v5)\n  return v5\n"),
    "a block with two copies": ("; -> 3 if v0 else 3", "; -> 4 if v0 else 5", f"{ENDS_ALIKE}block 5\n  return v0\n"),
    "a handler": ("; -> 3", "; -> 4", HANDLERS),
    "another handler": ("; -> 4", "; -> 5", HANDLERS),
}


@pytest.mark.parametrize("what", SAME)
def test_copies(what: str) -> None:
    assert same(*SAME[what])


@pytest.mark.parametrize("what", OTHER)
def test_no_copies(what: str) -> None:
    assert not same(*OTHER[what])


@pytest.mark.parametrize(("length", "expected"), [(LIMIT - 1, True), (LIMIT, False)])
def test_what_is_copied_is_short(length: int, expected: bool) -> None:
    first, rest = 3, ""
    for start in (first, first + length):
        for number in range(start, start + length):
            last = number == start + length - 1
            rest += f"block {number}\n  {'return v0' if last else f'-> {number + 1}'}\n"
    assert same(f"; -> {first}", f"; -> {first + length}", rest) is expected
