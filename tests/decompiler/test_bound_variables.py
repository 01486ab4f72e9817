"""Which reads of variables may find them unbound."""

from __future__ import annotations

import pytest

from depyf.decompiler.lift.bound import unsure_reads
from tests.decompiler.folding import graph_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): pass")
ONE = "v1 = CONST 1; "
AGAIN = (
    f"block 0; {ONE}STORE_FAST 'b' v1; -> 1\nblock 1; {{}}; -> 1 if v0 else 2\nblock 2; v2 = LOAD_FAST 'b'; return v2"
)
GUARDED = "block 0; {}-> 1\nblock 1  [handler 0: block 2]; {}return v1\nblock 2; v2 = LOAD_FAST 'b'; return v2"
READS = {
    "a parameter": ("block 0; v0 = LOAD_FAST 'a'; return v0", set()),
    "another variable": ("block 0; v0 = LOAD_FAST 'b'; return v0", {0}),
    "a variable that is set": (f"block 0; {ONE}STORE_FAST 'b' v1; v0 = LOAD_FAST 'b'; return v0", set()),
    "a variable that has been read": ("block 0; v0 = LOAD_FAST 'b'; v2 = LOAD_FAST 'b'; return v2", {0}),
    "a variable that one of two ways sets": (
        f"block 0; v0 = LOAD_FAST 'a'; -> 1 if v0 else 2\nblock 1; {ONE}STORE_FAST 'b' v1; -> 2\n"
        "block 2; v2 = LOAD_FAST 'b'; return v2",
        {2},
    ),
    "a variable that both ways set": (
        f"block 0; v0 = LOAD_FAST 'a'; -> 1 if v0 else 2\nblock 1; {ONE}STORE_FAST 'b' v1; -> 3\n"
        "block 2; v4 = CONST 2; STORE_FAST 'b' v4; -> 3\nblock 3; v2 = LOAD_FAST 'b'; return v2",
        set(),
    ),
    "a parameter that is deleted": ("block 0; DELETE_FAST 'a'; v0 = LOAD_FAST 'a'; return v0", {0}),
    "a parameter that a null unbinds": ("block 0; STORE_FAST 'a' null; v0 = LOAD_FAST 'a'; return v0", {0}),
    "a parameter that is read and unbound": ("block 0; v1 = LOAD_FAST_CLEAR 'a'; v0 = LOAD_FAST 'a'; return v0", {0}),
    "a variable that is set to what may be a null": (
        "block 0; v1 = LOAD_FAST_CLEAR 'b'; STORE_FAST 'a' v1; v0 = LOAD_FAST 'a'; return v0",
        {0, 1},
    ),
    "a variable that is set to a value that is unbound at once": (
        "block 0; v1 = LOAD_FAST_CLEAR 'a'; STORE_FAST 'b' v1; v0 = LOAD_FAST 'b'; return v0",
        set(),
    ),
    "two variables that change places": (
        "block 0; v1 = LOAD_FAST_CLEAR 'b'; STORE_FAST 'a' v1; v2 = LOAD_FAST_CLEAR 'a'; STORE_FAST 'c' v2; "
        "v0 = LOAD_FAST 'c'; return v0",
        {0, 1, 2},
    ),
    "a variable that a loop unbinds behind the read": (AGAIN.format("v0 = LOAD_FAST 'b'; DELETE_FAST 'b'"), {0, 2}),
    "a variable that a loop unbinds and sets": (
        AGAIN.format("DELETE_FAST 'b'; STORE_FAST 'b' v1; v0 = LOAD_FAST 'b'"),
        set(),
    ),
    "a variable in a handler that is set before": (GUARDED.format(f"{ONE}STORE_FAST 'b' v1; ", ""), set()),
    "a variable in a handler that is set in the block": (GUARDED.format("", f"{ONE}STORE_FAST 'b' v1; "), {2}),
    "a variable in a handler that is unbound for a while": (
        GUARDED.format(f"{ONE}STORE_FAST 'b' v1; ", "DELETE_FAST 'b'; STORE_FAST 'b' v1; "),
        {2},
    ),
    "a variable in a handler that is set in the first block": (
        f"block 0  [handler 0: block 1]; {ONE}STORE_FAST 'b' v1; return v1\nblock 1; v2 = LOAD_FAST 'b'; return v2",
        {2},
    ),
    "a block that nothing leads to": (
        f"block 0; {ONE}STORE_FAST 'b' v1; return v1\nblock 1; v2 = LOAD_FAST 'b'; return v2",
        set(),
    ),
}
"""Graphs, and the temporaries of reads that may fail."""


@pytest.mark.parametrize("what", READS)
def test_reads_that_may_find_a_variable_unbound(what: str) -> None:
    blocks, unsure = READS[what]
    assert unsure_reads(graph_of(blocks, CODE)) == unsure
