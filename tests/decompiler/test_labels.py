"""Jumps that become `break`, `continue`, `return` or nothing: items in, statements out."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.lift.extent import extent_of
from depyf.decompiler.lift.nodes import ExcMatch, Temp
from depyf.decompiler.structure.labels import Unresolved, resolve
from depyf.decompiler.structure.tree import For, If, Item, Jump, Label, Loop, Try
from tests.decompiler.parsed import shown
from tests.decompiler.test_forms import code_of

END, HEAD, AFTER, OTHER = 0, 1, 2, 3
A, B = (ast.Name(id=name, ctx=ast.Load()) for name in "ab")
FUNCTION, MODULE = "def f(a): pass", "a = 1"


def call(name: str) -> ast.stmt:
    return ast.Expr(value=ast.Name(id=name, ctx=ast.Load()))


def statements(*items: Item, source: str = FUNCTION, in_order: bool = False) -> list[ast.stmt]:
    graph = Graph(code_of(source), [], [], 0, in_order)
    graph.end = END
    return resolve(list(items), graph)


def resolved(*items: Item, source: str = FUNCTION, in_order: bool = False) -> str:
    return shown(statements(*items, source=source, in_order=in_order))


def in_loop(*items: Item) -> str:
    """Return what items become in a loop with a label behind it."""
    return resolved(Loop(HEAD, A, list(items)), Label(AFTER), call("d"))


def tried(*body: Item, handler: list[Item], is_finally: bool = False, orelse: tuple[Item, ...] = ()) -> Try:
    return Try(list(body), handler, 5, is_finally, orelse=list(orelse))


@pytest.mark.parametrize(
    ("items", "given"),
    [
        ([Jump(AFTER), Label(AFTER), call("b")], "b\n"),
        ([call("b"), Jump(END)], "b\n"),
        ([If(A, [Jump(END)], []), call("b")], "if a:\n    return\nb\n"),
        ([If(A, [Jump(AFTER)], [call("b")]), Label(AFTER), call("c")], "if not a:\n    b\nc\n"),
        ([If(A, [Jump(OTHER, body=[call("b")])], []), call("c")], "if a:\n    b\nc\n"),
        ([Jump(OTHER, never=True), call("b")], "b\n"),
        ([ast.Return(value=None), Jump(OTHER)], "return\n"),
        ([ast.Return(value=None), Label(OTHER), Jump(OTHER)], "return\n"),
    ],
)
def test_jumps(items: list[Item], given: str) -> None:
    assert resolved(*items) == given


def test_a_jump_to_nowhere_is_not_resolved() -> None:
    with pytest.raises(Unresolved, match="3"):
        resolved(Jump(OTHER), call("b"))
    with pytest.raises(Unresolved, match="0"):
        resolved(If(A, [Jump(END)], []), call("b"), source=MODULE)


@pytest.mark.parametrize(
    ("label", "explicit", "given"),
    [(HEAD, False, ""), (HEAD, True, "    continue\n"), (AFTER, False, "    break\n"), (AFTER, True, "    break\n")],
)
def test_jumps_at_the_end_of_a_loop(label: int, explicit: bool, given: str) -> None:
    assert in_loop(call("b"), Jump(label, explicit=explicit)) == f"while a:\n    b\n{given}d\n"


def test_the_else_of_a_loop_follows_a_loop_without_a_break() -> None:
    loop = Loop(HEAD, A, [call("b")], orelse=[call("c")])
    assert resolved(loop) == "while a:\n    b\nc\n"
    left = Loop(HEAD, A, [If(B, [Jump(AFTER)], [])], orelse=[call("c")])
    assert resolved(left, Label(AFTER)) == "while a:\n    if b:\n        break\nelse:\n    c\n"
    behind = Loop(HEAD, A, [call("b")], orelse=[call("c")], behind=8)
    assert resolved(behind) == "while a:\n    b\nelse:\n    c\n"


@pytest.mark.parametrize(("line", "given"), [(7, 7), (None, 0)])
def test_a_statement_has_the_line_of_its_item(line: int | None, given: int) -> None:
    items: list[Item] = [
        If(A, [call("b")], [], line=line),
        Loop(HEAD, A, [call("b")], line=line),
        For(HEAD, Temp(temp=1), Temp(temp=2), [call("b")], AFTER, line=line),
    ]
    assert [stmt.lineno for stmt in statements(*items)] == [given] * 3


@pytest.mark.parametrize("extent", [(4, 8), None])
def test_a_test_has_the_instructions_of_its_item(extent: tuple[int, int] | None) -> None:
    (stmt,) = statements(If(A, [call("b")], [], extent=extent))
    assert extent_of(stmt) == extent
    assert hasattr(stmt, "extent") == (extent is not None)


# -- arms -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "orelse", "near", "given"),
    [
        (["b"], [], None, "if a:\n    b\n"),
        ([], ["c"], None, "if not a:\n    c\n"),
        ([], [], None, "if a:\n    pass\n"),
        ([], [], False, "if a:\n    pass\n"),
        (["b"], ["c"], None, "if a:\n    b\nelse:\n    c\n"),
        (["b"], ["c"], True, "if a:\n    b\nelse:\n    c\n"),
        (["b"], ["c"], False, "if not a:\n    c\nelse:\n    b\n"),
    ],
)
def test_the_arm_that_comes_next_is_first(body: list[str], orelse: list[str], near: bool | None, given: str) -> None:
    assert resolved(If(A, [*map(call, body)], [*map(call, orelse)], near=near)) == given


def test_an_arm_that_is_an_exit_alone() -> None:
    """It comes next in the code: the author wrote it."""
    arm = If(A, [Jump(END)], [call("b")], near=True)
    assert resolved(arm) == "if a:\n    return\nelse:\n    b\n"
    assert resolved(If(A, [call("b")], [Jump(END)], near=False)) == "if not a:\n    return\nelse:\n    b\n"
    assert resolved(If(A, [Jump(END)], [call("b")])) == "if not a:\n    b\n"
    assert resolved(arm, source=MODULE) == "if not a:\n    b\n"
    exception = ExcMatch(exc=5, type=A, star=False)
    assert "return" not in resolved(If(exception, [Jump(END)], [call("b")], near=True))
    assert in_loop(If(A, [Jump(HEAD)], [call("b")], near=True)).startswith("while a:\n    if a:\n        continue\n")
    two: list[Item] = [Jump(OTHER), Label(OTHER), Jump(END)]
    assert resolved(If(A, two, [call("b")], near=True)) == "if not a:\n    b\n"


def test_a_return_in_a_try() -> None:
    """Code in the order of the source ends a `try` before a `return`; a module has none."""
    arm = If(A, [Jump(END)], [call("b")], near=True)
    item = tried(arm, handler=[call("c")])
    written, implied = "    if a:\n        return\n    else:\n        b\n", "    if not a:\n        b\n"
    assert written in resolved(item)
    assert implied in resolved(item, in_order=True)
    assert implied in resolved(item, source=MODULE)


# -- the ends of a `try` --------------------------------------------------------------------------

def ends_of(body: list[Item], handler: list[Item], *behind: Item, is_finally: bool = False) -> list[str]:
    """Return the exits of a loop with a `try`, with their indentation."""
    rows = in_loop(tried(*body, handler=handler, is_finally=is_finally), *behind).splitlines()
    return [row for row in rows if row.strip() in ("continue", "break", "return")]


@pytest.mark.parametrize("explicit", [False, True])
@pytest.mark.parametrize(("label", "word"), [(HEAD, "continue"), (AFTER, "break")])
def test_all_ends_leave_alike(label: int, word: str, explicit: bool) -> None:
    """The exit stands once, behind the `try`, unless the source has it at each end."""

    def end() -> Item:
        return Jump(label, explicit=explicit)

    lines = ends_of([call("a"), end()], [call("b"), end()], call("c"))
    assert lines == ([f"        {word}"] * 2 if explicit else [f"    {word}"])


def test_ends_that_leave_otherwise() -> None:
    """One end, ends of two kinds, and a `finally`, each with its own exits."""
    leaves = ends_of([call("a"), Jump(AFTER)], [ast.Raise(exc=None, cause=None)], call("c"))
    assert leaves == ["        break"]
    assert ends_of([call("a"), Jump(HEAD)], [call("b"), Jump(AFTER)], call("c")) == [
        "        continue", "        break"
    ]
    assert ends_of([call("a"), Jump(END)], [call("b"), Jump(END)]) == ["        return"] * 2
    assert ends_of([call("a"), Jump(HEAD)], [call("b"), Jump(HEAD)]) == []


def test_the_end_of_a_finally_is_no_exit() -> None:
    lines = ends_of([call("a"), Jump(AFTER)], [call("b"), Jump(AFTER)], call("c"), is_finally=True)
    assert lines == ["        break"] * 2


def test_ends_behind_each_other_need_no_exit() -> None:
    text = resolved(tried(call("a"), Jump(OTHER), handler=[call("b"), Jump(OTHER)]), Label(OTHER), call("c"))
    assert "return" not in text
    with pytest.raises(Unresolved):
        resolved(tried(call("a"), Jump(OTHER), handler=[call("b"), Jump(OTHER)]), call("c"))


def test_a_body_reaches_the_labels_that_begin_its_else() -> None:
    text = resolved(tried(call("a"), Jump(OTHER), handler=[Jump(END)], orelse=(Label(AFTER), Label(OTHER), call("b"))))
    assert "else:\n    b\n" in text
    with pytest.raises(Unresolved, match="3"):
        resolved(tried(call("a"), Jump(OTHER), handler=[Jump(END)], orelse=(Jump(END), Label(OTHER), call("b"))))
    with pytest.raises(Unresolved, match="3"):
        resolved(tried(call("a"), Jump(OTHER), handler=[Jump(END)], orelse=(call("b"), Label(OTHER), call("c"))))
