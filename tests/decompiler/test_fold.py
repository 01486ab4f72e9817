"""How operations are folded: values that stay pending, and what statements know of the code that they are of."""

from __future__ import annotations

import ast

import pytest

from depyf.bytecode.places import Place
from depyf.decompiler.lift.extent import extent_of, place_of, row_of
from depyf.decompiler.lift.fold import Folder
from depyf.decompiler.show.read_graph import read_graph
from depyf.decompiler.structure.collapse import count_uses
from depyf.decompiler.structure.compounds import RULES
from depyf.errors import DecompilationError
from tests.decompiler.folding import statements
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b, c, x): return g, h, k")
G, H = "v0 = LOAD_GLOBAL 'g'; v1 = CALL () v0; ", "v2 = LOAD_GLOBAL 'h'; v3 = CALL () v2; "
A, B, C, X = (f"v{number} = LOAD_FAST '{name}'; " for number, name in zip((5, 6, 7, 8), "abcx"))
GIVEN = {
    "a variable that a part of an operand sets": (
        f"{H}STORE_FAST 'a' v3; v9 = UNARY '-' v3; v10 = UNARY '~' v9; {A}v11 = BINARY '+' v5 v10; return v11",
        "v10 = ~-(a := h())\nreturn a + v10\n",
    ),
    "an operation that is dropped": (f"{A}v9 = UNARY '-' v5; POP v9", "-a\n"),
    "a value with a name that is dropped": (f"{G}STORE_FAST 'a' v1; POP v1", "(a := g())\n"),
    "a value with a name, and another one that is dropped": (f"{G}STORE_FAST 'a' v1; POP v30", "a = g()\n"),
    "a tuple that is used twice, before a store of what it holds": (
        f"{A}v9 = BUILD_TUPLE v5; v10 = BUILD_TUPLE v9 v9; v4 = CONST 1; STORE_FAST 'a' v4; return v10",
        "v9 = a,\nv10 = v9, v9\na = 1\nreturn v10\n",
    ),
    "two tuples of a variable that is stored behind them": (
        f"{A}{B}v9 = BUILD_TUPLE v5; v4 = CONST 1; v12 = BUILD_TUPLE v5 v6; STORE_FAST 'a' v4; "
        "v10 = BUILD_TUPLE v9 v12; return v10",
        "v5 = a\nv9 = v5,\nv12 = v5, b\na = 1\nreturn v9, v12\n",
    ),
    "a variable that is stored behind a call": (
        f"{A}{G}v4 = BUILD_TUPLE v1; {H}v9 = BINARY '+' v3 v4; STORE_FAST 'a' v9; return v5",
        "v4 = g(),\nv5 = a\na = h() + v4\nreturn v5\n",
    ),
    "a tuple in tuples, with calls in another order": (
        f"{A}v9 = BUILD_TUPLE v5; v4 = BUILD_TUPLE v9; {G}{H}v10 = BINARY '+' v3 v1; v11 = BUILD_TUPLE v9 v4 v10; "
        "return v11",
        "v9 = a,\nv1 = g()\nreturn v9, (v9,), h() + v1\n",
    ),
    "a global that is used again, behind a call": (
        f"{G}v4 = LOAD_GLOBAL 'k'; v9 = BUILD_TUPLE v4; {H}v10 = BUILD_TUPLE v3 v1; v11 = BUILD_TUPLE v4 v9 v10; "
        "return v11",
        "v1 = g()\nv4 = k\nreturn v4, (v4,), (h(), v1)\n",
    ),
    "an unpacking whose second value nothing stores": (
        f"{X}v10 v11 = UNPACK_SEQUENCE 2 v8; STORE_FAST 'a' v10; -> 1\nblock 1",
        "a, v11 = x\ngoto 1\n",
    ),
    "a tuple that is dropped behind a call, and a variable that the next block reads": (
        f"{A}{B}v9 = BUILD_TUPLE v5; {G}POP v9; -> 1\nblock 1; return v6",
        "v6 = b\ng()\ngoto 1\n",
    ),
    "a call that is dropped, and a variable that the next block reads": (
        f"{G}{A}POP v1; -> 1\nblock 1; return v5",
        "g()\nv5 = a\ngoto 1\n",
    ),
    "a variable that is used twice": (
        f"{A}{B}v9 = BINARY '+' v5 v6; v10 = BINARY '+' v9 v5; return v10",
        "return a + b + a\n",
    ),
    "a constant in a tuple, and again behind a call": (
        f"{G}v9 = CONST 1; v10 = BUILD_TUPLE v9; v12 = BINARY '+' v10 v1; v13 = BUILD_TUPLE v9 v12; return v13",
        "return 1, (1,) + g()\n",
    ),
    "a target behind calls in another order": (
        f"{A}{B}STORE_FAST 'c' v5; {G}{H}v9 = BINARY '+' v3 v1; STORE_ATTR 'y' v6 v9",
        "c, v6 = a, b\nv1 = g()\n(h() + v1).y = v6\n",
    ),
    "a variable that is stored behind": (
        f"{A}v4 = CONST 1; STORE_FAST 'a' v4; return v5",
        "v5 = a\na = 1\nreturn v5\n",
    ),
    "a tuple of a variable that is stored behind": (
        f"{A}v9 = BUILD_TUPLE v5; v4 = CONST 1; STORE_FAST 'a' v4; return v9",
        "v9 = a,\na = 1\nreturn v9\n",
    ),
    "an attribute that is set to a value that is used again": (
        f"{G}{X}STORE_ATTR 'y' v1 v8; v9 = UNARY '-' v1; return v9",
        "x.y = v1 = g()\nreturn -v1\n",
    ),
    "a variable that is set to a value that is used again": (
        f"{G}STORE_FAST 'a' v1; v9 = UNARY '-' v1; return v9",
        "return -(a := g())\n",
    ),
    "the result of an in-place operation that is an operand": (
        f"{A}{B}v9 = INPLACE '+=' v5 v6; v10 = UNARY '-' v9; return v10",
        "v9 = a\nv9 += b\nreturn -v9\n",
    ),
    "a call between two targets": (
        f"{X}v10 v11 = UNPACK_SEQUENCE 2 v8; STORE_FAST 'a' v10; {H}POP v3; STORE_FAST 'b' v11",
        "a, v11 = x\nh()\nb = v11\n",
    ),
}


@pytest.mark.parametrize("what", GIVEN)
def test_statements_of_a_block(what: str) -> None:
    rows, text = GIVEN[what]
    assert statements(rows, CODE) == text


def test_what_has_no_rule_is_refused() -> None:
    with pytest.raises(DecompilationError, match="operation NO_SUCH cannot be folded"):
        statements("NO_SUCH", CODE)


# -- places, lines and extents --------------------------------------------------------------


def folder_of(rows: str, *, has_places: bool = True) -> Folder:
    """Return a folder of operations, each of which stands at an offset and on a line of its own."""
    graph = read_graph("block 0\n  " + rows.replace("; ", "\n  ") + "\n  return\n", CODE)
    insts = graph.block(0).insts
    for number, inst in enumerate(insts):
        inst.offset = 2 * number
        if has_places:
            graph.places.append(Place(number, 0, number, 0))
    folder = Folder(graph, count_uses(graph))
    folder.insts = insts
    return folder


def nodes(folder: Folder) -> list[ast.AST]:
    folder.fold(folder.insts, RULES)
    return [node for stmt in folder.stmts for node in ast.walk(stmt) if isinstance(node, (ast.stmt, ast.expr))]


def lines(folder: Folder) -> list[tuple[str, int | None]]:
    """Return the line of each node's place."""
    located = [(node, place_of(node)) for node in nodes(folder)]
    return [(type(node).__name__, place.line if place is not None else None) for node, place in located]


def test_a_value_stands_where_its_operation_does() -> None:
    assert lines(folder_of(f"{A}v9 = UNARY '-' v5; STORE_FAST 'c' v9")) == [
        ("Assign", 2), ("Var", 2), ("UnaryOp", 1), ("Var", 0)
    ]


def test_what_takes_over_a_value_has_no_place() -> None:
    assert lines(folder_of(f"{A}v9 = MOVE v5; STORE_FAST 'c' v9")) == [("Assign", 2), ("Var", 2), ("Var", 0)]


def test_the_second_of_two_operations_of_one_instruction_has_no_place() -> None:
    folder = folder_of(f"STORE_FAST 'c' v20; {A}v9 = UNARY '-' v5; STORE_FAST 'b' v9")
    folder.insts[1].offset = 0
    assert lines(folder) == [
        ("Assign", 0), ("Var", 0), ("Temp", None), ("Assign", 3), ("Var", 3), ("UnaryOp", 2), ("Var", None)
    ]


def test_without_places_values_have_lines() -> None:
    folder = folder_of(f":7 {A}:8 v9 = UNARY '-' v5; :9 STORE_FAST 'c' v9; DELETE_FAST 'b'", has_places=False)
    assert [row_of(node) for node in nodes(folder)] == [0, 0, 8, 7, 0, 0]
    assert [stmt.lineno for stmt in folder.stmts] == [9, 0]


def test_a_statement_knows_the_operations_that_it_is_of() -> None:
    folder = folder_of(f"{A}v9 = UNARY '-' v5; POP v9; {G}POP v1; DELETE_FAST 'b'; DELETE_FAST 'c'")
    folder.insts[-1].offset = -1
    nodes(folder)
    assert [extent_of(stmt) for stmt in folder.stmts] == [(0, 4), (6, 10), (12, 12), (-1, -1)]


@pytest.mark.parametrize(
    ("rows", "stmts", "position"), [(f"{G}POP v1; {H}POP v3", 1, 3), (f"{G}{A}", 0, 3)], ids=["a statement", "none"]
)
def test_an_expression_ends_before_a_statement(rows: str, stmts: int, position: int) -> None:
    folder = folder_of(rows.removesuffix("; "))
    folder.fold_expression(folder.insts, RULES)
    assert (len(folder.stmts), folder.position) == (stmts, position)
