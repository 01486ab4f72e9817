"""Operations that a dispatch writes as calls."""

from __future__ import annotations

import ast

import pytest

from depyf.bytecode.known import ENTER, ENTER_ASYNC, THROW
from depyf.bytecode.known_groups import UNTRACE
from depyf.decompiler.graph.tac import Block
from depyf.decompiler.lift.nodes import Object
from depyf.decompiler.structure.collapse import count_uses
from depyf.decompiler.structure.dispatch.arms import Arms, entered, keep, thrown, untraced
from depyf.decompiler.structure.tree import Enter
from tests.decompiler.folding import graph_of
from tests.decompiler.parsed import shown
from tests.decompiler.test_forms import code_of

A = ast.Name(id="a", ctx=ast.Load())


def function_of(stmt: ast.stmt) -> object:
    (call,) = [node for node in ast.walk(stmt) if isinstance(node, ast.Call)]
    assert isinstance(call.func, Object)
    return call.func.value


@pytest.mark.parametrize(("is_async", "function"), [(False, ENTER), (True, ENTER_ASYNC)])
def test_a_manager_is_entered(is_async: bool, function: object) -> None:
    stmt = entered(Enter(manager=A, exit=1, value=2, is_async=is_async, lineno=3))
    assert function_of(stmt) is function
    assert shown([stmt]).startswith("v1, v2 = ")


def test_exceptions() -> None:
    assert function_of(thrown(A)) is THROW
    assert function_of(untraced()) is UNTRACE
    assert shown([keep(1, A)]) == "v1 = a\n"


class Guide:
    """Goes to a block by a call; the exception in hand is v7."""

    def go(self, index: int, place: int) -> list[ast.stmt]:
        return [ast.Expr(value=ast.Name(id=f"goto_{index}", ctx=ast.Load()))]

    def is_current(self, block: Block, exc: int) -> bool:
        return exc == 7

    def traced(self) -> list[ast.stmt]:
        return [ast.Expr(value=ast.Name(id="traced", ctx=ast.Load()))]

    def end(self, place: int) -> list[ast.stmt]:
        return [ast.Expr(value=ast.Name(id="end", ctx=ast.Load()))]


def arm(blocks: str, source: str = "def f(a): return g") -> list[ast.stmt]:
    graph = graph_of(blocks, code_of(source))
    return Arms(graph, count_uses(graph), lambda stmts: stmts, Guide()).arm(graph.block(0), 0)


REST = "\nblock 1; return\nblock 2; return"


@pytest.mark.parametrize(
    ("block", "given"),
    [
        ("v0 = LOAD_FAST 'a'; -> 1 if v0 else 2", "if a:\n    goto_1\nelse:\n    goto_2\n"),
        ("-> 1", "goto_1\n"),
        ("v0 = LOAD_FAST 'a'; return v0", "return a\n"),
        ("v0 = CONST None; return v0", "return\n"),
        ("reraise v7", "raise\n"),
        ("-> for v2 in v1: 1, else 2", "for v2 in v1:\n    goto_1\n    break\nelse:\n    goto_2\n"),
        ("-> async for v2 in v1: 1, else 2", "async for v2 in v1:\n    goto_1\n    break\nelse:\n    goto_2\n"),
    ],
)
def test_the_arm_of_a_block(block: str, given: str) -> None:
    stmts = arm(f"block 0; {block}{REST}")
    assert shown(stmts) == given
    assert all(isinstance(getattr(stmt, "lineno", 0), int) for stmt in stmts)


def test_the_lines_of_an_arm() -> None:
    (test,) = arm(f"block 0; :5 v0 = LOAD_FAST 'a'; -> 1 if v0 else 2  :5{REST}")
    (loop,) = arm(f"block 0; -> for v2 in v1: 1, else 2  :6{REST}")
    assert (test.lineno, loop.lineno) == (5, 6)


def test_an_exception_that_is_not_in_hand_is_thrown() -> None:
    (stmt,) = arm(f"block 0; reraise v8{REST}")
    assert function_of(stmt) is THROW


@pytest.mark.parametrize(("exc", "first"), [("v7", "    raise"), ("v8", "    <Object>(v8)")])
def test_a_test_for_an_exception_raises_it(exc: str, first: str) -> None:
    test = f"v0 = LOAD_FAST 'a'; v1 = CHECK_EXC_MATCH {exc} v0; -> 1 if v1 else 2"
    rows = shown(arm(f"block 0; {test}{REST}")).splitlines()
    assert rows[:2] == ["try:", first]
    assert ("    traced" in rows) == (exc == "v8")
    assert rows[2] == "except a:"


def test_code_that_is_no_function_ends() -> None:
    assert shown(arm("block 0; v0 = CONST None; return v0", "x = 1")) == "end\n"
