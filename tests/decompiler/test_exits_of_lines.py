"""Ways out on one line: which of them are one statement."""

from __future__ import annotations

import pytest

from depyf.bytecode.code import Code
from depyf.decompiler.structure.exits import join_exits
from tests.decompiler.folding import graph_of, rows_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")
TWO = "block 0; :1 v0 = LOAD_FAST 'a'; -> 1 if v0 else 2\nblock 1{0}; {1}\nblock 2{2}; {3}\n"
"""Two blocks: their stacks and handlers, and what they do."""
HANDLERS = "block 8; v80 = CALL () v81; reraise v81\nblock 9; v90 = CALL () v91; reraise v91"
CALL, OTHER = ":2 v1 = CALL (); POP v1; ", ":3 v2 = CALL (); POP v2; "


def both(first_exit: str, other: str = "", first: str = "", second: str = "") -> str:
    return TWO.format(first, first_exit, second, other or first_exit.replace("v3", "v4"))


def ends(blocks: str, code: Code = CODE, end: int = -1) -> list[str]:
    """Return the exits of all blocks afterwards, the first one's left out."""
    graph = graph_of(blocks, code)
    graph.end = end
    join_exits(graph)
    return [row for row in rows_of(graph)[3:] if row.startswith(("return", "raise", "reraise", "->"))]


RETURN = ":7 v3 = CONST 1; return v3  :7"
JOINED = {
    "a constant": both(RETURN),
    "a constant behind something": both(CALL + RETURN, (OTHER + RETURN).replace("v3", "v4")),
    "something that is computed": both(":7 v3 = LOAD_FAST 'a'; :7 v5 = CALL () v3; return v5  :7"),
    "an exception": both(":7 v3 = LOAD_FAST 'a'; raise v3  :7"),
    "the exception that is handled": both("raise  :7"),
    "a store that unbinds, and nothing": both(":7 STORE_FAST 'a' null; return  :7"),
    "an exception that goes on": both(":7 v3 = LOAD_FAST 'a'; reraise v9"),
}
APART = {
    "other constants": both(RETURN, RETURN.replace("v3", "v4").replace("CONST 1", "CONST 2")),
    "other lines": both(RETURN, RETURN.replace("v3", "v4").replace(":7", ":8")),
    "no line": both(RETURN.replace(":7", "")),
    "a value that was made before": both("return v0  :7"),
    "a call of what was made before": both(":7 v3 = CALL () v0; return v3  :7"),
    "another exception that goes on": both(":7 v3 = LOAD_FAST 'a'; reraise v9", ":7 v4 = LOAD_FAST 'a'; reraise v8"),
    "a block that a value is handed to": (
        both(RETURN).replace("1 if v0", "1 (v0) if v0").replace("block 1;", "block 1 (v6);")
    ),
    "other handlers": both(RETURN, "", "  [handler 0: block 8]", "  [handler 1: block 9]") + HANDLERS,
}


@pytest.mark.parametrize("what", JOINED)
def test_the_same_on_one_line_is_one_statement(what: str) -> None:
    assert sum(not row.startswith("->") for row in ends(JOINED[what])) == 1


@pytest.mark.parametrize("what", APART)
def test_something_else_is_another_statement(what: str) -> None:
    rows = ends(APART[what])
    assert sum(row.startswith(("return", "raise")) or row in ("reraise v9", "reraise v8") for row in rows) == 2


def test_parts_of_a_lambda_stay_apart() -> None:
    assert ends(both(RETURN), code_of("f = lambda a: g")) == ["return v3", "return v4"]


# -- what lies on the stack --------------------------------------------------------------------

HANDLED = (
    "block 0; :1 v0 = PUSH_EXC_INFO v9; v8 = PUSH_EXC_INFO v9; v6 = CALL (); -> 1 if v6 else 2\n"
    f"block 1  [stack v0, v6]; {{}}{RETURN}\nblock 2  [stack v0, v6]; {{}}{RETURN.replace('v3', 'v4')}"
)


@pytest.mark.parametrize(
    ("first", "other", "count"),
    [
        ("", "", 1),
        (":6 POP_EXCEPT v0; ", "", 2),
        (":6 POP_EXCEPT v0; ", ":6 POP_EXCEPT v0; ", 1),
        (":6 POP v6; ", "", 1),
    ],
    ids=["in one handler", "behind the handler", "both behind the handler", "another value is dropped"],
)
def test_ways_out_of_one_handler_are_one(first: str, other: str, count: int) -> None:
    assert sum(row.startswith("return") for row in ends(HANDLED.format(first, other))) == count


def test_what_both_have_on_the_stack_stays_there() -> None:
    graph = graph_of(HANDLED.format(":6 v7 = PUSH_EXC_INFO v9; POP v6; ", ""), CODE)
    graph.block(1).stack.append(8)
    join_exits(graph)
    assert [block.stack for block in graph.live()] == [[], [0, 6, 8], [0, 6]]
    graph = graph_of(HANDLED.format(":6 POP v6; ", ":6 POP v6; "), CODE)
    join_exits(graph)
    assert [block.stack for block in graph.live()][-1] == [0]


# -- returns behind protected code ---------------------------------------------------------------

BEHIND = (
    "block 0; :1 v0 = LOAD_FAST 'a'; -> 1 if v0 else 2\nblock 1  [handler 0: block 8]; :7 v3 = CONST 1; {}\n"
    "block 2  [handler 0: block 8]; :7 v4 = CONST 1; {}\nblock 3{}; return v3  :7\nblock 4; return v4  :7\n"
    "block 8; v80 = CALL () v81; reraise v81"
)


def test_a_return_behind_a_protected_block_belongs_to_it() -> None:
    assert ends(BEHIND.format("-> 3", "-> 4", "")) == ["-> 4", "return v4", "reraise v81"]


@pytest.mark.parametrize(
    ("first", "other", "phis"),
    [("-> 3 if v3 else 2", "-> 4", ""), ("-> 3 (v3)", "-> 4", " (v6)"), ("-> 4", "-> 4", "")],
    ids=["behind a test", "a value that is handed over", "one return behind both"],
)
def test_another_return_behind_a_protected_block_stands_alone(first: str, other: str, phis: str) -> None:
    rows = ends(BEHIND.format(first, other, phis))
    assert rows[:2] == [first, other]


def test_without_handlers_a_return_stands_alone() -> None:
    blocks = BEHIND.format("-> 3", "-> 4", "").replace("  [handler 0: block 8]", "")
    assert ends(blocks)[:2] == ["-> 3", "-> 4"]


# -- the end of the code -------------------------------------------------------------------------


@pytest.mark.parametrize(("end", "count"), [(3, 1), (4, 2)])
def test_what_leads_to_the_end_is_a_way_out(end: int, count: int) -> None:
    graph = graph_of(both(":7 v3 = CONST 1; :7 STORE_FAST 'a' v3; -> 3") + "block 3; return\nblock 4; return", CODE)
    graph.end = end
    join_exits(graph)
    assert sum(row.startswith(":7 STORE_FAST") for row in rows_of(graph)) == count
