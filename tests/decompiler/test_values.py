"""Values: the operations of a block, and the expressions that they become."""

from __future__ import annotations

import pytest

from depyf.decompiler.lift.fold import Folder
from depyf.decompiler.lift.nodes import Object, constant_of
from depyf.decompiler.lift.rules import FOLD
from depyf.decompiler.lift.values import as_set
from depyf.decompiler.structure.collapse import count_uses
from tests.decompiler.folding import graph_of, statements
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b, c, x): return g")
A, B, C, X = (f"v{number} = LOAD_FAST '{name}'; " for number, name in zip((5, 6, 7, 8), "abcx"))
PAIR = f"v3 = CONST 'k'; {B}v2 = BUILD_MAP v3 v6; "
GIVEN = {
    "a global that nobody binds anew": ("v1 = LOAD_GLOBAL_UNCHANGING 'g'", "g"),
    "a truth value": (f"{A}v1 = TO_BOOL v5", "(not not a)"),
    "a list of constants": ("v1 = BUILD_LIST; v2 = CONST (1, 2); LIST_EXTEND v1 v2", "[1, 2]"),
    "a list with a tuple behind": (f"{A}v1 = BUILD_LIST v5; v2 = CONST (1, 2); LIST_EXTEND v1 v2", "[a, *(1, 2)]"),
    "a set of what a tuple holds": ("v1 = BUILD_SET; v2 = CONST (1, 2); SET_UPDATE v1 v2", "{*(1, 2)}"),
    "an empty dict with an item": (f"v1 = BUILD_MAP; {A}{B}MAP_ADD v1 v5 v6", "{a: b}"),
    "a tuple that is unpacked": (f"{A}v2 = BUILD_TUPLE v5; v1 = BUILD_TUPLE_UNPACK v2", "(*(a,),)"),
    "a tuple before another value": (f"{A}v2 = BUILD_TUPLE v5; {B}v1 = BUILD_TUPLE_UNPACK v2 v6", "(a, *b)"),
    "a tuple behind another value": (f"{B}{A}v2 = BUILD_TUPLE v5; v1 = BUILD_TUPLE_UNPACK v6 v2", "(*b, a)"),
    "items before a mapping": (f"{PAIR}{C}v1 = BUILD_MAP_UNPACK_WITH_CALL v2 v7", "{'k': b, **c}"),
    "items whose key is no name": (
        f"{PAIR.replace('k', 'a b')}{C}v1 = BUILD_MAP_UNPACK_WITH_CALL v2 v7",
        "{**{'a b': b}, **c}",
    ),
    "items whose key is a keyword": (
        f"{PAIR.replace('k', 'class')}{C}v1 = BUILD_MAP_UNPACK_WITH_CALL v2 v7",
        "{**{'class': b}, **c}",
    ),
    "items behind a mapping": (f"v1 = BUILD_MAP; {A}DICT_MERGE v1 v5; {PAIR}DICT_MERGE v1 v2", "{**a, 'k': b}"),
    "items whose key is no name behind a mapping": (
        f"v1 = BUILD_MAP; {A}DICT_MERGE v1 v5; {PAIR.replace('k', 'a b')}DICT_MERGE v1 v2",
        "{**a, **{'a b': b}}",
    ),
    "a mapping that is put together is no keyword arguments": (
        f"v4 = LOAD_GLOBAL 'g'; v9 = CONST (); {PAIR}{C}v0 = BUILD_MAP_UNPACK v2 v7; v1 = CALL_EX True v4 v9 v0",
        "g(**{'k': b, **c})",
    ),
}


@pytest.mark.parametrize("what", GIVEN)
def test_the_expression_of_operations(what: str) -> None:
    rows, text = GIVEN[what]
    assert statements(f"{rows}; v20 = CALL () v1; return v20", CODE) == f"return {text}()\n"


ITEMS = "".join(f"v1{n:02} = CONST {n}; v2{n:02} = CONST 0; MAP_ADD v1 v1{n:02} v2{n:02}; " for n in range(16))
"""So many items are added one by one."""


@pytest.mark.parametrize(("items", "is_one"), [(ITEMS, True), (ITEMS.replace("MAP_ADD v1 v100 v200; ", ""), False)])
def test_many_items_are_added_to_a_display(items: str, is_one: bool) -> None:
    text = statements(f"{A}{B}v1 = BUILD_MAP v5 v6; {items}return v1", CODE)
    assert text.startswith("return {a: b, 0: 0, 1: 0") is is_one


# -- comparisons ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "negates", "offset", "marks"),
    [
        ("COMPARE '<'", False, 2, []),
        ("IS True", False, 2, ["apart", "fused"]),
        ("IS True", False, 4, ["apart"]),
        ("IS True", True, 2, ["fused"]),
        ("IS True", True, 4, []),
        ("CONTAINS False", False, 2, ["apart"]),
        ("CONTAINS False", True, 2, []),
    ],
)
def test_comparisons_know_what_they_were_in_the_code(row: str, negates: bool, offset: int, marks: list[str]) -> None:
    """A test that was one operation with its jump has the offset of its operand."""
    graph = graph_of(f"block 0; {A}{B}v1 = {row} v5 v6; return v1", CODE)
    graph.negates = negates
    for inst, at in zip(graph.block(0).insts, (0, 2, offset)):
        inst.offset = at
    folder = Folder(graph, count_uses(graph))
    folder.fold(graph.block(0).insts, FOLD)
    assert [mark for mark in ("apart", "fused") if hasattr(folder.pending[-1].expr, mark)] == marks


# -- constants --------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [frozenset({1, 2}), frozenset({(1, 2)}), frozenset({frozenset({1})}), (frozenset(),)])
def test_a_set_of_literals_is_a_display_in_a_test(value: object) -> None:
    constant = constant_of(CODE, value)
    assert isinstance(constant, Object)
    assert (as_set(constant) is not constant) is (value in (frozenset({1, 2}), frozenset({(1, 2)})))


def test_a_constant_set_has_an_order() -> None:
    constant = constant_of(CODE, frozenset({64, 128}))
    assert isinstance(constant, Object)
    assert sorted(constant.order) == [64, 128]  # type: ignore[type-var]
