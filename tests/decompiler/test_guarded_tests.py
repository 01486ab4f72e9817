"""Tests of values, and whether the handler of their statement protects them."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from depyf.bytecode.listing import Instruction
from depyf.bytecode.normalise import normalise
from depyf.decompiler.lift.guarded import grouped, is_loose, is_told, note_guarded, note_test
from tests.decompiler.folding import graph_of
from tests.decompiler.test_forms import code_of

FUNCTION, GENERATOR = code_of("def f(a): return g"), code_of("def f(a): yield g")
PROTECTED = "block 0  [handler 0: block 2]; v0 = LOAD_FAST 'a'; -> 1 if v0 else 2\nblock 1; return\nblock 2; reraise v9"
BARE = "block 0; v0 = LOAD_FAST 'a'; -> 1 if v0 else 2\nblock 1; return\nblock 2; return"


def noted(
    blocks: str, op: str = "LOAD_FAST", *, is_generator: bool = False, version: tuple[int, int] = (3, 14),
    has_handlers: bool = True, is_gone: bool = False,
) -> dict[int, bool]:
    """Return what is noted of the test of v0; `op` is the operation before its jump."""
    code = replace(GENERATOR if is_generator else FUNCTION, version=version)
    graph = graph_of(blocks, code)
    graph.guarded = {}
    listing = normalise(FUNCTION)
    ops = (op, "JUMP_IF_FALSE", "RETURN")
    listing.code = code
    listing.instructions = [Instruction(op, None, -1, 2 * place, None, -1) for place, op in enumerate(ops)]
    listing.handlers = [None] if has_handlers else []  # type: ignore[list-item]
    if is_gone:
        graph.blocks[1] = None
    note_guarded(graph, listing, [2, 3, 3, 3])
    return graph.guarded


@pytest.mark.parametrize(("op", "guarded"), [("LOAD_FAST", True), ("UNGUARDED", False)])
def test_the_test_of_a_statement_with_a_handler(op: str, guarded: bool) -> None:
    assert noted(PROTECTED, op) == {0: guarded}
    assert noted(PROTECTED, op, is_gone=True) == {0: guarded}


@pytest.mark.parametrize("op", ["LOAD_FAST", "UNGUARDED"])
def test_a_test_that_nothing_protects(op: str) -> None:
    assert noted(BARE, op) == {}
    assert noted(PROTECTED, op, version=(3, 13)) == {}
    assert noted(PROTECTED, op, has_handlers=False) == {}


def test_all_tests_of_a_generator_are_protected() -> None:
    assert noted(BARE, is_generator=True) == {0: True}
    assert noted(BARE, "UNGUARDED", is_generator=True, has_handlers=False) == {0: False}


KEPT = "block 1; -> 3 if v0 else 2 (v0)\nblock 2 (v1); return v1\nblock 3; return"


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        (f"block 0  [handler 0: block 2]; v0 = LOAD_FAST 'a'; -> 1\n{KEPT}", {0: False}),
        (f"block 0; v0 = LOAD_FAST 'a'; -> 1\n{KEPT}", {}),
        (f"block 0  [handler 0: block 2]; v0 = LOAD_FAST 'a'; -> 1\n{KEPT.replace(' (v0)', '')}", {}),
        ("block 0; -> 1 if v0 else 2 (v0)\nblock 1; return\nblock 2 (v1); return v1", {}),
    ],
)
def test_a_test_between_protected_code(blocks: str, expected: dict[int, bool]) -> None:
    assert noted(blocks) == expected


@pytest.mark.parametrize(
    ("guarded", "is_known", "loose"), [(None, False, False), (True, True, False), (False, True, True)]
)
def test_what_is_known_of_an_operation(guarded: bool | None, is_known: bool, loose: bool) -> None:
    operation = ast.parse("a and b", mode="eval").body
    assert isinstance(operation, ast.BoolOp)
    note_test(operation, guarded)
    assert (is_told(operation), is_loose(operation)) == (is_known, loose)


@pytest.mark.parametrize(
    ("loose", "given"),
    [
        ((False, False), "a, b, c"),
        ((True, False), "(a or b), c"),
        ((True, True), "a, b, c"),
        ((False, True), "a, b, c"),
        ((True, True, False), "(a or b or c), d"),
        ((True, False, True), "(a or b), c, d"),
        ((False, True, False), "a, (b or c), d"),
        ((True, False, False), "(a or b), c, d"),
    ],
)
def test_operands_between_brackets(loose: tuple[bool, ...], given: str) -> None:
    operands: list[ast.expr] = [ast.Name(id=name, ctx=ast.Load()) for name in "abcd"[: len(loose) + 1]]
    operands_grouped = grouped(ast.Or(), operands, list(loose))
    shown = [
        f"({ast.unparse(operand)})" if isinstance(operand, ast.BoolOp) else ast.unparse(operand)
        for operand in operands_grouped
    ]
    assert ", ".join(shown) == given
    assert all(
        is_told(operand) and not is_loose(operand) for operand in operands_grouped if isinstance(operand, ast.BoolOp)
    )
