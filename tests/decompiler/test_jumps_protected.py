"""Blocks that cannot raise, and that the compiler left out of a protected range."""

from __future__ import annotations

import pytest

from depyf.bytecode.code import Code
from depyf.decompiler.structure.regions.jumps import protect_jumps
from depyf.decompiler.structure.regions.table import Regions
from tests.decompiler.folding import graph_of
from tests.decompiler.test_forms import code_of


def code(*version: int) -> Code:
    function_code = code_of("def f(a): return g")
    function_code.version = version[0], version[1]
    return function_code


CODE, LOOSE = code(3, 11), code(3, 14)
"""Code whose tests are all protected, and code in which some are not."""
GUARD = "  [handler 0: block 9]"
HANDLER = "block 9; v90 = CALL () v91; reraise v91"


def handlers(blocks: str, of: Code = CODE) -> list[int]:
    """Return which handler protects each block afterwards."""
    graph = graph_of(blocks, of)
    protect_jumps(Regions(graph))
    return [block.handler for block in graph.live()]


# -- jumps ------------------------------------------------------------------------------------

JUMP = (
    f"block 0{{}}; v0 = CALL (); -> 1 if v0 else 2\nblock 1; {{}}-> 2\nblock 2{{}}; v2 = CALL (); return v2\n"
    f"{HANDLER}\nblock 3{GUARD}; return v0"
)


@pytest.mark.parametrize(
    ("first", "rows", "last", "is_protected"),
    [
        (GUARD, "", GUARD, True),
        ("", "", GUARD, False),
        (GUARD, "", "", False),
        (GUARD, "v1 = CALL (); ", GUARD, False),
    ],
    ids=["inside", "it leads into the statement", "it leaves the statement", "it may raise"],
)
def test_a_jump_inside_of_a_statement_is_protected(first: str, rows: str, last: str, is_protected: bool) -> None:
    assert handlers(JUMP.format(first, rows, last))[1] == (0 if is_protected else -1)


def test_a_jump_that_is_protected_by_an_inner_statement_stays() -> None:
    inner = "  [handler 1: block 8]"
    blocks = (
        f"block 0{inner}; v0 = CALL (); -> 1 if v0 else 2\nblock 1{inner}; -> 2\n"
        f"block 2{inner}; v2 = CALL (); return v2\n"
        f"block 8{GUARD}; v80 = CALL () v81; reraise v81\n{HANDLER}"
    )
    assert handlers(blocks)[1] == 1
    assert handlers(blocks.replace(f"block 1{inner}", f"block 1{GUARD}"))[1] == 0
    assert handlers(blocks.replace(f"block 2{inner}", f"block 2{GUARD}"))[1] == 1


def test_nothing_leads_to_the_first_block() -> None:
    assert handlers(f"block 0; -> 1\nblock 1{GUARD}; v1 = CALL (); return v1\n{HANDLER}")[0] == -1


# -- tests ------------------------------------------------------------------------------------

TEST = (
    f"block 0{GUARD}; v0 = {{}}; v7 = CALL (); -> 1\nblock 1; {{}}; -> 2 if {{}} else 3\n"
    f"block 2; return v0\nblock 3; return v7\n{HANDLER}"
)
TESTED = {
    "whether a value is None": ("CALL ()", "v1 = CONST None; v2 = IS True v0 v1", "v2", True),
    "a comparison of identity": ("IS True v5 v6", "POP v7", "v0", True),
    "a membership": ("CONTAINS True v5 v6", "POP v7", "v0", True),
    "a negation": ("UNARY 'not' v5", "POP v7", "v0", True),
    "another operation": ("UNARY '-' v5", "POP v7", "v0", False),
    "an argument that reads as a negation": ("CALL 'not' v5", "POP v7", "v0", False),
    "what may have no truth value": ("CALL ()", "POP v7", "v0", False),
    "something that may raise": ("CALL ()", "v3 = CALL (); v1 = CONST None; v2 = IS True v0 v1", "v2", False),
    "whether a constant is None": ("CALL ()", "v4 = CONST 1; v1 = CONST None; v2 = IS True v4 v1", "v2", False),
    "another value than the compared one": ("CALL ()", "v1 = CONST None; v2 = IS True v0 v1", "v7", False),
    "what is made nowhere": ("CALL ()", "v1 = CONST None; v2 = IS True v1 v99", "v2", False),
    "a truth value that is made here": ("CALL ()", "v3 = CONST 1; v4 = CONST 2; v2 = IS True v3 v4", "v2", False),
    "a truth value with a comparison beside it": ("IS True v5 v6", "v1 = CONST None; v2 = IS True v7 v1", "v0", True),
}


@pytest.mark.parametrize("what", TESTED)
def test_a_test_that_cannot_raise_is_a_part_of_the_statement(what: str) -> None:
    function_code, rows, tested, is_protected = TESTED[what]
    assert handlers(TEST.format(function_code, rows, tested))[1] == (0 if is_protected else -1)


def test_a_test_that_two_statements_lead_to_is_a_part_of_none() -> None:
    function_code, rows, tested, _ = TESTED["whether a value is None"]
    blocks = TEST.format(function_code, rows, tested).replace("block 2; return v0", "block 2; -> 1")
    assert handlers(blocks)[1] == -1
    assert handlers(blocks.replace("block 2; -> 1", f"block 2{GUARD}; -> 1"))[1] == 0


def test_a_test_of_an_inner_statement_stays() -> None:
    function_code, rows, tested, _ = TESTED["whether a value is None"]
    blocks = TEST.format(function_code, rows, tested) + "\nblock 8; v80 = CALL () v81; reraise v81"
    assert handlers(blocks.replace("block 1;", "block 1  [handler 1: block 8];"))[1] == 1
    around = f"block 9  [handler 1: block 8]; {HANDLER.removeprefix('block 9; ')}"
    assert handlers(blocks.replace("block 1;", "block 1  [handler 1: block 8];").replace(HANDLER, around))[1] == 0


# -- tests of 3.14 ------------------------------------------------------------------------------

KEPT = (
    f"block 0{GUARD}; v0 = CALL (); -> 1\nblock 1; {{}}-> 2 if v0 else 3{{}}\n"
    f"block 2{{}}; v5 = CALL (); return v5\nblock 3{{}}; v6 = CALL (); return v6\n{HANDLER}"
)


@pytest.mark.parametrize(
    ("rows", "args", "phis", "guard", "of", "is_protected"),
    [
        ("", " (v0)", " (v4)", GUARD, LOOSE, True),
        ("", " (v0)", " (v4)", GUARD, CODE, False),
        ("", "", "", GUARD, LOOSE, False),
        ("", " (v0)", " (v4)", "", LOOSE, False),
        ("POP v9; ", " (v0)", " (v4)", GUARD, LOOSE, False),
    ],
    ids=["one way uses it", "another version", "no way uses it", "no way is protected", "something before it"],
)
def test_a_test_whose_value_is_used_further(
    rows: str, args: str, phis: str, guard: str, of: Code, is_protected: bool
) -> None:
    blocks = KEPT.format(rows, args, guard, phis)
    assert handlers(blocks, of)[1] == (0 if is_protected else -1)
    assert handlers(blocks.replace("-> 2 if v0 else 3", "-> for v8 in v0: 2, else 3"), of)[1] == -1
