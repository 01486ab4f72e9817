"""Copies of a `finally` body: a graph with a handler and the copies, and what is left of it."""

from __future__ import annotations

import pytest

from depyf.decompiler.graph.tac import Goto, Graph, Leave, Return
from depyf.decompiler.structure.regions.finally_ import strip
from depyf.decompiler.structure.regions.table import Kind, Region, Regions
from tests.decompiler.folding import graph_of, rows_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")
HANDLER = 0


def stripped(graph: Graph) -> bool:
    """Return whether all copies of the body of the first handler are found; they are gone then."""
    return strip(Regions(graph), Region(HANDLER, Kind.FINALLY, -1, 0))


def left(blocks: str) -> list[list[str]]:
    """Return what is left of blocks, each with its lines; the handler stays as it is."""
    graph = graph_of(blocks, CODE)
    regions = Regions(graph)
    target = graph.block(graph.handlers[HANDLER].target)
    before = [index for index in range(target.index, len(graph.blocks)) if graph.blocks[index] is not None]
    handler = {index: rows_of_block(graph, index) for index in before}
    assert strip(regions, Region(HANDLER, Kind.FINALLY, -1, 0))
    block_rows = [rows_of_block(graph, block.index) for block in graph.live()]
    return [rows for rows in block_rows if rows not in handler.values()]


def rows_of_block(graph: Graph, index: int) -> list[str]:
    rows = rows_of(graph)
    start = next(number for number, row in enumerate(rows) if row.split()[:2] == ["block", str(index)])
    end = next((number for number in range(start + 1, len(rows)) if rows[number].startswith("block ")), len(rows))
    return rows[start:end]


ONE = (
    "block 0  [handler 0: block 10]; v0 = CALL (); -> 1\n"
    "block 1; v1 = LOAD_GLOBAL 'g'; {}v4 = CALL () v1; v5 = CONST 1; return v5\n"
    "block 10; v30 = PUSH_EXC_INFO v29; v31 = LOAD_GLOBAL 'g'; {}v34 = CALL () v31; reraise v29"
)
TWO = (
    "block 0  [handler 0: block 10]; v0 = CALL (); -> 1 if v0 else 2\n"
    "block 1; v1 = CALL (); {}\n"
    "block 2; v2 = CALL (); {}\n"
    "block 10; v30 = PUSH_EXC_INFO v29; v31 = CALL (); reraise v29"
)
BRANCH = (
    "block 0  [handler 0: block 10]; v0 = CALL (); -> 1\n"
    "block 1; v1 = CALL (); -> 2 if {} else 3\n"
    "block 2; v2 = CALL (); {}\n"
    "block 3; {}\n"
    "block 4; v9 = CALL (); return v9\n"
    "block 5 (v10); return v10\n"
    "block 10; v30 = PUSH_EXC_INFO v29; v31 = CALL (); -> 11 if v31 else 12\n"
    "block 11; v32 = CALL (); reraise v29\n"
    "block 12; reraise v29"
)
VALUES = (
    "block 0; v0 = CALL (); {}\n"
    "block 7  [handler 0: block 10]; v7 = CALL (); -> 1 if v7 else 2\n"
    "block 1  [handler 0: block 10]; v1 = CALL (); -> 3 (v1)\n"
    "block 2  [handler 0: block 10]; v2 = CONST 2; -> 3 (v2)\n"
    "block 3 (v3); v4 = CALL (); -> 6 if v4 else 4\n"
    "block 4; {}\n"
    "block 5 (v20); return v20\n"
    "block 6; v5 = CALL (); -> 4\n"
    "block 10; v30 = PUSH_EXC_INFO v29; v31 = CALL (); -> 11 if v31 else 12\n"
    "block 11; v32 = CALL (); reraise v29\n"
    "block 12; reraise v29"
)
BEHIND = (
    "block 0  [handler 0: block 10]; v0 = CALL (); -> 1 if v0 else 2\n"
    "block 1  [handler 0: block 10]; v1 = CALL (); -> 3 (v1)\n"
    "block 2  [handler 0: block 10]; v2 = CONST 2; -> 3 (v2)\n"
    "block 3 (v3); v4 = CALL (); return v3\n"
    "block 10; v30 = PUSH_EXC_INFO v29; v31 = CALL (); reraise v29"
)
JOINED = (
    "block 0  [handler 0: block 10]; v0 = CALL (); -> 1\n"
    "block 1; v1 = CALL (); -> 2 if v1 else 3\n"
    "block 2; v2 = CALL (); -> 4 (v2)\n"
    "block 3; v3 = CONST 3; -> 4 (v3)\n"
    "block 4 (v5); v6 = CALL () v5; return v0\n"
    "block 10; v30 = PUSH_EXC_INFO v29; v31 = CALL (); -> 11 if v31 else 12\n"
    "block 11; v32 = CALL (); -> 13 (v32)\n"
    "block 12; v33 = CONST 3; -> 13 (v33)\n"
    "block 13 (v35); v36 = CALL () v35; reraise v29"
)
ARMS = JOINED[: JOINED.index("block 11")] + (
    "block 11; v32 = CALL (); v36 = CALL () v32; reraise v29\n"
    "block 12; v33 = CONST 3; v37 = CALL () v33; reraise v29"
)


def marked(added: str = "SET_ADD 1 {set} {number}", name: str = "__conditional_annotations__") -> str:
    """Return a graph whose copy and handler say that they have reached an annotation, each its own."""
    rows = f"{{set}} = LOAD_NAME '{name}'; {{number}} = CONST {{value}}; {added}; "
    return ONE.format(rows.format(set="v2", number="v3", value=2), rows.format(set="v32", number="v33", value=1))


ONE_MERGED = ARMS.replace("v3 = CONST 3; -> 4 (v3)", "raise v1").replace(
    "v33 = CONST 3; v37 = CALL () v33; reraise v29", "raise v31"
)
MEETING = ARMS.replace("return v0", "v7 = CALL (); return v0").replace("reraise v29", "-> 13") + (
    "\nblock 13; v39 = CALL (); reraise v29"
)
PARTED = ARMS.replace("-> 1\n", "-> 1 if v0 else 5\n") + (
    "\nblock 5; v7 = CALL (); -> 6 if v7 else 7\n"
    "block 6; v8 = CALL (); v9 = CALL () v8; v15 = CONST 1; return v15\n"
    "block 7; v12 = CONST 3; v13 = CALL () v12; v16 = CONST 1; return v16"
)
START = ["block 0 [handler 0: block 10]", "v0 = CALL ()"]
OUTSIDE = ["block 0", "v0 = CALL ()"]
PROTECTED = ["block 7 [handler 0: block 10]", "v7 = CALL ()", "-> 1 if v7 else 2"]
NEVER_BACK = (
    "block 0  [handler 0: block 10]; v0 = CALL (); -> 1\nblock 1; v1 = LOAD_GLOBAL 'g'; raise v1\n"
    "block 10; v30 = PUSH_EXC_INFO v29; v31 = LOAD_GLOBAL 'g'; raise v31"
)
ENDLESS = (
    "block 0  [handler 0: block 10]; v0 = CALL (); -> 1\nblock 1; v1 = CALL (); -> 2\nblock 2; -> {}\n"
    "block 3; return v0\nblock 10; v30 = PUSH_EXC_INFO v29; v31 = CALL (); -> 11\nblock 11; -> {}"
)
KEPT_VALUE = "block 0; v8 = CALL (); -> 2\n" + NEVER_BACK.replace("block 0", "block 2").replace(
    "block 1;", "block 1  [stack v8];"
)
STARTS_AT_2 = ["block 2 [handler 0: block 10]", "v0 = CALL ()"]
IN_LOOP = (
    "block 0  [handler 0: block 10]; v8 = CALL (); -> for v9 in v8: 1, else 3\n"
    "block 1  [stack v8]; v1 = LOAD_GLOBAL 'g'; raise v1\nblock 3; v3 = LOAD_GLOBAL 'g'; raise v3\n"
    "block 10; v30 = PUSH_EXC_INFO v29; v31 = LOAD_GLOBAL 'g'; raise v31"
)
FOR = (
    "block 0  [handler 0: block 10]; v0 = CALL (); v9 = CALL (); -> 1\nblock 1; v1 = CALL (); -> 2\n"
    "block 2; -> for v2 in {}: 3, else 4\nblock 3; v3 = CALL () v2; -> 2\nblock 4; return v0\n"
    "block 10; v30 = PUSH_EXC_INFO v29; v31 = CALL (); -> 11\nblock 11; -> for v32 in v31: 12, else 13\n"
    "block 12; v33 = CALL () v32; -> 11\nblock 13; reraise v29"
)

LEFT = {
    "the exit leads behind the copy": (
        ONE.format("", ""),
        [[*START, "-> 11"], ["block 11", "v5 = CONST 1", "return v5"]],
    ),
    "a copy that a `return` leaves moves a value, and drops one": (
        ONE.format("v2 = MOVE v0; POP v0; ", ""),
        [[*START, "-> 11"], ["block 11", "v5 = CONST 1", "return v5"]],
    ),
    "numbers of reached annotations differ": (marked(), [[*START, "-> 11"], ["block 11", "v5 = CONST 1", "return v5"]]),
    "a variable that is returned behind two copies is one statement": (
        TWO.format("v3 = LOAD_FAST 'a'; return v3", "v4 = LOAD_FAST 'a'; return v4"),
        [[*START, "-> 11 if v0 else 11"], ["block 11", "v3 = LOAD_FAST 'a'", "return v3"]],
    ),
    "a constant that is returned behind two copies is two": (
        TWO.format("v3 = CONST 1; return v3", "v4 = CONST 1; return v4"),
        [
            [*START, "-> 11 if v0 else 12"],
            ["block 11", "v3 = CONST 1", "return v3"],
            ["block 12", "v4 = CONST 1", "return v4"],
        ],
    ),
    "other variables behind two copies": (
        TWO.format("v3 = LOAD_FAST 'a'; return v3", "v4 = LOAD_FAST 'b'; return v4"),
        [
            [*START, "-> 11 if v0 else 12"],
            ["block 11", "v3 = LOAD_FAST 'a'", "return v3"],
            ["block 12", "v4 = LOAD_FAST 'b'", "return v4"],
        ],
    ),
    "arms that lead to one block": (
        BRANCH.format("v1", "-> 4", "-> 4"),
        [[*START, "-> 3"], ["block 3", "-> 4"], ["block 4", "v9 = CALL ()", "return v9"]],
    ),
    "arms that return the same constant": (
        BRANCH.format("v1", "v3 = CONST 1; return v3", "v4 = CONST 1; return v4"),
        [[*START, "-> 3"], ["block 3", "v4 = CONST 1", "return v4"]],
    ),
    "arms that raise one exception again": (
        BRANCH.format("v1", "reraise v28", "reraise v28"), [[*START, "-> 3"], ["block 3", "reraise v28"]]
    ),
    "arms that end the handling of an exception": (
        BRANCH.format("v1", "POP_EXCEPT v28; -> 4", "POP_EXCEPT v28; -> 4"),
        [[*START, "-> 3"], ["block 3", "POP_EXCEPT v28", "-> 4"], ["block 4", "v9 = CALL ()", "return v9"]],
    ),
    "arms that unbind a name": (
        BRANCH.format(
            "v1", "v3 = CONST None; STORE_FAST 'e' v3; DELETE_FAST 'e'; -> 4",
            "v4 = CONST None; STORE_FAST 'e' v4; DELETE_FAST 'e'; -> 4",
        ),
        [
            [*START, "-> 3"],
            ["block 3", "v4 = CONST None", "STORE_FAST 'e' v4", "DELETE_FAST 'e'", "-> 4"],
            ["block 4", "v9 = CALL ()", "return v9"],
        ],
    ),
    "values of two ways": (
        VALUES.format("-> 7", "return v3"),
        [
            [*OUTSIDE, "-> 7"],
            ["block 1 [handler 0: block 10]", "v1 = CALL ()", "-> 4 (v1)"],
            ["block 2 [handler 0: block 10]", "v2 = CONST 2", "-> 4 (v2)"],
            ["block 4 (v3)", "return v3"],
            PROTECTED,
        ],
    ),
    "values of two ways that are handed on": (
        VALUES.format("-> 7", "v6 = CALL () v3; -> 5 (v6)"),
        [
            [*OUTSIDE, "-> 7"],
            ["block 1 [handler 0: block 10]", "v1 = CALL ()", "-> 4 (v1)"],
            ["block 2 [handler 0: block 10]", "v2 = CONST 2", "-> 4 (v2)"],
            ["block 4 (v3)", "v6 = CALL () v3", "-> 5 (v6)"],
            ["block 5 (v20)", "return v20"],
            PROTECTED,
        ],
    ),
    "values of two ways that another way does not bring": (
        VALUES.format("-> 7 if v0 else 4", "return v0"),
        [
            [*OUTSIDE, "-> 7 if v0 else 4"],
            ["block 1 [handler 0: block 10]", "v1 = CALL ()", "-> 4"],
            ["block 2 [handler 0: block 10]", "v2 = CONST 2", "-> 4"],
            ["block 4", "return v0"],
            PROTECTED,
        ],
    ),
    "values of two ways behind a copy in the same block": (
        BEHIND,
        [
            [*START, "-> 1 if v0 else 2"],
            ["block 1 [handler 0: block 10]", "v1 = CALL ()", "-> 11 (v1)"],
            ["block 2 [handler 0: block 10]", "v2 = CONST 2", "-> 11 (v2)"],
            ["block 11 (v3)", "return v3"],
        ],
    ),
    "values of two ways behind a copy in the same block, and a value handed on there": (
        BEHIND.replace("return v3", "v6 = CALL () v3; -> 5 (v6)\nblock 5 (v20); return v20"),
        [
            [*START, "-> 1 if v0 else 2"],
            ["block 1 [handler 0: block 10]", "v1 = CALL ()", "-> 11 (v1)"],
            ["block 2 [handler 0: block 10]", "v2 = CONST 2", "-> 11 (v2)"],
            ["block 5 (v20)", "return v20"],
            ["block 11 (v3)", "v6 = CALL () v3", "-> 5 (v6)"],
        ],
    ),
    "a value of two arms": (JOINED, [[*START, "-> 14"], ["block 14", "return v0"]]),
    "a value of two arms that the handler uses twice": (
        ARMS,
        [
            [*START, "-> 14"],
            ["block 11", "v32 = CALL ()", "-> 13 (v32)"],
            ["block 12", "v33 = CONST 3", "-> 13 (v33)"],
            ["block 13 (v38)", "v37 = CALL () v38", "reraise v29"],
            ["block 14", "return v0"],
        ],
    ),
    "a value of one arm": (ONE_MERGED, [[*START, "-> 13"], ["block 13", "return v0"]]),
    "a value of two arms that meet behind its use": (MEETING, [[*START, "-> 14"], ["block 14", "return v0"]]),
    "a value of two arms, and a copy in which they part": (
        PARTED,
        [
            [*START, "-> 14 if v0 else 15"],
            ["block 11", "v32 = CALL ()", "-> 13 (v32)"],
            ["block 12", "v33 = CONST 3", "-> 13 (v33)"],
            ["block 13 (v38)", "v37 = CALL () v38", "reraise v29"],
            ["block 14", "return v0"],
            ["block 15", "v16 = CONST 1", "return v16"],
        ],
    ),
    "a body that never ends": (NEVER_BACK, [[*START, "-> 11"], ["block 11", "never comes here"]]),
    "a loop without end": (ENDLESS.format(2, 11), [[*START, "-> 12"], ["block 12", "never comes here"]]),
    "two ways to a body that never ends": (
        TWO.format("raise v1", "raise v2").replace("reraise v29", "raise v31"),
        [[*START, "-> 11 if v0 else 11"], ["block 11", "never comes here"]],
    ),
    "a return before a body that never ends": (
        NEVER_BACK.replace("block 1;", "block 1  [stack v0];"),
        [[*START, "-> 11"], ["block 11 [handler 0: block 10]", "return v0"]],
    ),
    "a value from before, and a body that never ends": (
        KEPT_VALUE, [["block 0", "v8 = CALL ()", "-> 2"], [*STARTS_AT_2, "-> 11"], ["block 11", "never comes here"]],
    ),
    "an iterator, and a body that never ends": (
        IN_LOOP,
        [[START[0], "v8 = CALL ()", "-> for v9 in v8: 11, else 11"], ["block 11", "never comes here"]],
    ),
    "a loop": (FOR.format("v1"), [[*START, "v9 = CALL ()", "-> 4"], ["block 4", "return v0"]]),
}


@pytest.mark.parametrize("case", LEFT)
def test_copies_are_gone(case: str) -> None:
    blocks, rows = LEFT[case]
    assert left(blocks) == rows


KEPT = {
    "another operation": ONE.format("", "").replace("CALL () v1", "CALL (1,) v1"),
    "another value": ONE.format("", "").replace("CALL () v1", "CALL () v0"),
    "an operation more": ONE.format("v2 = CALL (); ", ""),
    "an operation less": ONE.format("", "v32 = CALL (); "),
    "a value of the copy is dropped": ONE.format("POP v1; ", ""),
    "a handled exception that is not the handler's": ONE.format("POP_EXCEPT v28; ", ""),
    "numbers in another set": marked(name="other"),
    "numbers of which one is in another set": marked().replace("__conditional_annotations__", "other", 1),
    "numbers that are added to nothing": marked("CALL () {set} {number}"),
    "numbers that are added to something else": marked("SET_ADD 1 v0 {number}"),
    "other numbers than those that are added": marked("SET_ADD 1 {set} v0"),
    "names in the set": marked().replace("CONST 2", "LOAD_GLOBAL 'g'"),
    "names in the set of the handler": marked().replace("v33 = CONST 1", "v33 = LOAD_GLOBAL 'g'"),
    "it does more before its test": (
        BRANCH.format("v1", "-> 4", "-> 4").replace("v1 = CALL ()", "v1 = CALL (); v7 = CALL ()")
    ),
    "a test of another value": BRANCH.format("v0", "-> 4", "-> 4"),
    "a loop over another value": FOR.format("v9"),
    "arms that lead elsewhere": BRANCH.format("v1", "-> 4", "-> 5 (v0)"),
    "arms that return other constants": BRANCH.format("v1", "v3 = CONST 1; return v3", "v4 = CONST 2; return v4"),
    "arms that return what they compute": BRANCH.format(
        "v1", "v3 = LOAD_GLOBAL 'g'; return v3", "v4 = LOAD_GLOBAL 'g'; return v4"
    ),
    "arms that raise": BRANCH.format("v1", "raise v0", "raise v0"),
    "an arm that does more before it raises again": BRANCH.format("v1", "v3 = CALL (); reraise v28", "reraise v28"),
    "arms that hand over a value": BRANCH.format("v1", "-> 5 (v0)", "-> 5 (v0)"),
    "arms that hand over a value behind a name that they unbind": BRANCH.format(
        "v1", "v3 = CONST None; STORE_FAST 'e' v3; DELETE_FAST 'e'; -> 5 (v0)",
        "v4 = CONST None; STORE_FAST 'e' v4; DELETE_FAST 'e'; -> 5 (v0)",
    ),
    "arms that do more before they meet": BRANCH.format(
        "v1", "v3 = CONST 1; STORE_FAST 'e' v3; -> 4", "v4 = CONST 1; STORE_FAST 'e' v4; -> 4"
    ),
    "arms that meet in the handler alone": (
        BRANCH.format("v1", "-> 3", "v3 = CALL (); return v0").replace(
            "v32 = CALL (); reraise v29\nblock 12; ", "v32 = CALL (); -> 12\nblock 12; v33 = CALL (); "
        ).replace("-> 3\n", "-> 4\n")
    ),
    "another value of two arms beside one": (
        JOINED.replace("-> 4 (v2)", "-> 4 (v2, v0)").replace("-> 4 (v3)", "-> 4 (v3, v1)").replace("(v5)", "(v5, v8)")
    ),
    "a loop without end in the handler alone": ENDLESS.format(3, 11),
    "a loop without end in the copy alone": ENDLESS.format(2, 12) + "\nblock 12; v32 = CALL (); reraise v29",
    "a value handed over without end": ENDLESS.format("2 (v2)", 12).replace("block 2", "block 2 (v2)").replace(
        "-> 2\n", "-> 2 (v1)\n"
    ) + "\nblock 12; v32 = CALL (); reraise v29",
    "another value of two arms": JOINED.replace("-> 4 (v3)", "-> 4 (v0)"),
    "it returns": NEVER_BACK.replace("raise v1\n", "return v1\n"),
    "it raises something else": NEVER_BACK.replace("raise v1\n", "raise v0\n"),
    "it raises with a cause": NEVER_BACK.replace("raise v1\n", "raise v1 v0\n"),
}


@pytest.mark.parametrize("case", KEPT)
def test_what_is_no_copy_stays(case: str) -> None:
    graph = graph_of(KEPT[case], CODE)
    regions = Regions(graph)
    before = rows_of(graph)
    assert not strip(regions, Region(HANDLER, Kind.FINALLY, -1, 0))
    assert rows_of(graph) == before


# -- regions within and around ------------------------------------------------------------------

COPY, OWN, AROUND = ("  [handler 1: block 4]", "  [handler 2: block 12]", "  [handler 3: block 16]")
INNER = (
    "block 0; v9 = CALL (); -> 5 if v9 else 6\n"
    "block 1{around}; v1 = CALL (); -> 2\nblock 2{copy}; v2 = CALL () v1; -> {more}\nblock 3; return v0\n"
    "block 4; v3 = PUSH_EXC_INFO v19; v4 = CALL (); -> 3\n"
    "block 5  [handler 0: block 10]; v0 = CALL (); -> 1\n"
    "block 6  [handler 1: block 4]; v6 = CALL (); -> 7\nblock 7  [handler 2: block 12]; v7 = CALL (); return v7\n"
    "block 8{second}; v8 = CALL () v2; -> 3\n"
    "block 10{around}; v30 = PUSH_EXC_INFO v29; v31 = CALL (); -> 11\n"
    "block 11{own}; v32 = CALL () v31; -> {own_more}\n"
    "block 12; v33 = PUSH_EXC_INFO v39; v34 = CALL (); -> 13\nblock 13; reraise v29\n"
    "block 14{own}; v35 = CALL () v32; -> 13\n"
    "block 16; v40 = PUSH_EXC_INFO v49; v41 = CALL (); -> 3"
)


def inner(copy: str, inner_rows: str, around: str = "", second: str | None = None) -> str:
    """Return a graph with a protected part of a `finally` body, or two, in the copy and in the handler."""
    more, own_more = (3, 13) if second is None else (8, 14)
    return INNER.format(copy=copy, own=inner_rows, around=around, second=second or "", more=more, own_more=own_more)


@pytest.mark.parametrize("second", [None, COPY], ids=["one", "two"])
def test_a_protected_part_of_the_body(second: str | None) -> None:
    graph = graph_of(inner(COPY, OWN, second=second), CODE)
    assert stripped(graph)
    assert rows_of_block(graph, 5)[-1] == "-> 3"


@pytest.mark.parametrize(
    ("behind", "rows"),
    [("return v0", ["return v0"]), ("v50 = CALL (); -> 3", ["v50 = CALL ()", "-> 3"])],
    ids=["it returns", "it does more"],
)
def test_what_is_behind_a_protected_part_of_the_body(behind: str, rows: list[str]) -> None:
    blocks = inner(COPY, OWN).replace("v2 = CALL () v1; -> 3", f"v2 = CALL () v1; {behind}")
    blocks = blocks.replace("v4 = CALL (); -> 3", "v4 = CALL (); raise v4")
    blocks = blocks.replace("v34 = CALL (); -> 13", "v34 = CALL (); raise v34")
    graph = graph_of(blocks, CODE)
    assert stripped(graph)
    goto = graph.block(5).exit
    assert isinstance(goto, Goto)
    assert rows_of_block(graph, goto.edge.target)[1:] == rows


def test_a_given_up_return_has_the_line_of_its_value() -> None:
    blocks = NEVER_BACK.replace("block 1;", "block 1  [stack v0];").replace("v0 = ", ":2 v7 = CALL (); :3 v0 = ")
    graph = graph_of(blocks, CODE)
    assert stripped(graph)
    assert [block.exit.line for block in graph.live() if isinstance(block.exit, Return)] == [3]


@pytest.mark.parametrize(
    "blocks",
    [
        inner("", OWN), inner(COPY, ""), inner(AROUND, OWN, AROUND), inner(COPY, OWN, second=AROUND),
        inner(COPY, OWN).replace("v4 = CALL ()", "v4 = CALL () v3"), inner("", OWN, AROUND), inner(COPY, "", AROUND),
    ],
    ids=[
        "in the handler alone", "in the copy alone", "by what is around both", "by two handlers", "by other code",
        "in the handler alone, within another", "in the copy alone, within another",
    ],
)
def test_a_part_that_is_protected_otherwise(blocks: str) -> None:
    assert not stripped(graph_of(blocks, CODE))


@pytest.mark.parametrize(
    ("is_explicit", "around", "handler"), [(True, "", 0), (False, "", -1), (True, AROUND, 3)],
    ids=["a jump", "a fallthrough", "a jump of another region"],
)
def test_a_jump_behind_a_copy_is_in_the_region(is_explicit: bool, around: str, handler: int) -> None:
    graph = graph_of(inner(COPY, OWN).replace("block 3;", f"block 3{around}; -> 17\nblock 17;"), CODE)
    jump = graph.block(3)
    assert isinstance(jump.exit, Goto)
    jump.exit = Leave(jump.exit.edge, None, is_explicit)
    assert stripped(graph)
    assert jump.handler == handler
