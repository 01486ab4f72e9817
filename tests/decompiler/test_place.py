"""Nodes of a graph without cycles, placed in one sequence by dominance."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from depyf.decompiler.graph.dominators import reverse_postorder
from depyf.decompiler.lift.nodes import Temp
from depyf.decompiler.show import tree
from depyf.decompiler.structure.node_table import Node, find_jumps
from depyf.decompiler.structure.place import live_tails, place
from depyf.decompiler.structure.tree import For, If, Item, Jump, Label, Loop, ReraiseStmt, Try, WithBody
from tests.decompiler.parsed import GRAMMAR

A = ast.Name(id="a", ctx=ast.Load())


def call(name: str) -> ast.stmt:
    return ast.Expr(value=ast.Name(id=name, ctx=ast.Load()))


def go(label: int) -> Jump:
    return Jump(label)


def never(label: int) -> Jump:
    return Jump(label, never=True)


def tried(
    body: list[Item], handler: list[Item], *, is_finally: bool = False, is_star: bool = False, handled: int = -1
) -> Try:
    return Try(body, handler, 9, is_finally, is_star, handled=handled)


def node(
    *items: Item, first: int = 0, last: int = 0, ends: tuple[int, ...] = (), implied: tuple[int, ...] = (),
    in_order: bool = False, tells: bool = False,
) -> Node:
    jumps = find_jumps(list(items))
    return Node([*items], jumps, -1, (), first, last, frozenset(ends), frozenset(implied), in_order, tells)


def placed(*nodes: Node) -> str:
    """Return the nodes 0, 1, ... in one sequence; a filled jump is shown as the code at its label."""
    table = dict(enumerate(nodes))
    successors = {label: [jump.label for jump in entry.jumps if jump.label in table] for label, entry in table.items()}
    return tree.text(place(table, successors, reverse_postorder(successors, 0)), GRAMMAR)


def depth(text: str, row: str) -> int:
    """Return how far a row is indented, in blocks."""
    (line,) = [line for line in text.splitlines() if line.strip() == row]
    return (len(line) - len(row)) // 4


# -- the ends of items ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "labels"),
    [
        ([], []),
        ([call("a")], []),
        ([go(1)], [1]),
        ([never(1)], []),
        ([go(1), call("a")], []),
        ([If(A, [go(1)], [go(2)])], [1, 2]),
        ([If(A, [go(1), call("a")], [never(2)])], []),
        ([Jump(5, [call("a"), go(1)])], [1]),
        ([tried([go(1)], [go(2)])], [1, 2]),
        ([WithBody([go(1)], 3, [go(2)], False)], [1, 2]),
        ([Loop(0, A, [go(1)], orelse=[go(2)])], [2]),
        ([For(0, Temp(temp=1), Temp(temp=2), [go(1)], 4, orelse=[go(2)])], [2]),
        ([Loop(0, A, [go(1)], orelse=[go(2)]), go(3)], [2, 3]),
        ([WithBody([go(1)], 3, [go(2)], False), go(3)], [1, 2, 3]),
        ([If(A, [go(1)], []), go(3)], [3]),
    ],
)
def test_the_jumps_at_the_end(items: list[Item], labels: list[int]) -> None:
    assert sorted(jump.label for jump in live_tails(items)) == labels


# -- plain nodes ----------------------------------------------------------------------------------


def test_nodes_stand_where_the_only_jump_to_them_is() -> None:
    assert placed(node(call("a"))) == "a\n"
    assert placed(node(call("a"), go(1)), node(call("b"))) == "a\n# 1\nb\n"
    text = placed(node(If(A, [go(1)], [go(2)])), node(call("b"), go(3)), node(call("c"), go(3)), node(call("d")))
    assert [depth(text, f"# {label}") for label in (1, 2, 3)] == [1, 1, 0]


# -- loops ----------------------------------------------------------------------------------------


def test_a_jump_behind_a_loop() -> None:
    """It leads to the only place outside, and knows where the loop ends normally if only `break` leads there."""
    for normal, known in ((7, None), (8, 8)):
        loop = Loop(0, A, [If(A, [go(7)], []), go(0)], orelse=[go(normal)])
        loop_node = node(loop)
        placed(loop_node)
        jump = loop_node.items[-1]
        assert isinstance(jump, Jump)
        assert (jump.label, jump.normal and jump.normal.label) == (7, known)


@pytest.mark.parametrize(("first", "is_inside"), [(5, True), (12, False)])
def test_exits_of_a_loop_that_never_ends_by_itself(first: int, is_inside: bool) -> None:
    """In code in the order of the source, what is behind the loop there does not stand inside."""
    loop = Loop(0, None, [If(A, [go(1)], []), If(A, [go(2)], []), go(0)])
    others = (node(call("b"), go(7), first=first), node(call("c"), go(7), first=first))
    text = placed(node(loop, last=10, in_order=True), *others)
    assert (depth(text, "# 2") > 0) == is_inside


@pytest.mark.parametrize(
    ("inner", "row"),
    [
        (lambda: tried([call("a"), go(1)], [call("b"), go(0)]), "else:"),
        (lambda: tried([call("a"), go(1)], [call("b"), go(0)], is_finally=True), "# 1"),
        (lambda: Try([call("a"), go(1)], [call("b"), go(0)], 9, False, orelse=[call("x")]), "# 1"),
        (lambda: tried([call("a"), go(0)], [call("b"), go(1)]), "# 1"),
        (lambda: WithBody([call("a"), go(1)], 3, [go(0)], False), "# 1"),
    ],
)
def test_code_behind_a_try_in_a_loop_is_its_else(inner: Callable[[], Item], row: str) -> None:
    text = placed(node(Loop(0, None, [inner(), If(A, [go(7)], [])])), node(call("c"), go(7)))
    assert f"{row}\n" in text
    assert ("label 1:" in text) == (row == "else:")


# -- with -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("jump", "suppressed", "other", "is_inside"),
    [
        (go, lambda: [go(8)], lambda: [go(7)], True),
        (never, lambda: [go(8)], lambda: [go(7)], False),
        (go, lambda: [go(8)], lambda: [call("c"), go(7)], False),
        (go, lambda: [Jump(8, [call("b")])], lambda: [go(7)], False),
        (go, lambda: [call("b"), go(8)], lambda: [go(7)], False),
    ],
)
def test_a_jump_out_of_a_with(
    jump: Callable[[int], Jump], suppressed: Callable[[], list[Item]], other: Callable[[], list[Item]], is_inside: bool
) -> None:
    text = placed(node(WithBody([call("a"), jump(1)], 3, suppressed(), False)), node(*other()))
    assert (depth(text, "# 1") == 1) == is_inside


def test_a_with_that_nothing_follows() -> None:
    assert placed(node(WithBody([call("a")], 3, [go(8)], False))).endswith("suppressed:\n    goto 8\ngoto 8\n")
    assert placed(node(WithBody([call("a")], 3, [Jump(8, [call("b")])], False))).endswith("    b\n")


# -- try ------------------------------------------------------------------------------------------

RERAISE = ReraiseStmt(exc=9)


def rest() -> tuple[Node, Node, Node]:
    """Return what follows the body, a jump, and what follows both."""
    return node(call("r"), go(3)), node(go(7)), node(call("s"))


def clause(*items: Item) -> list[Item]:
    return [If(A, [*items], [RERAISE])]


def both(first: Jump, second: Jump) -> Item:
    return If(A, [call("d"), first], [call("e"), second])


ONE_END: dict[str, tuple[Callable[[], list[Item]], int]] = {
    "two ends": (lambda: clause(call("b"), both(go(2), go(2))), 2),
    "one end": (lambda: clause(call("b"), go(2)), 2),
    "two clauses": (lambda: [If(A, [call("d"), go(2)], [If(A, [call("e"), go(2)], [RERAISE])])], 1),
    "an end behind a try": (lambda: clause(tried([go(2)], [call("e"), go(2)]), Label(5), Jump(5, [go(2)])), 2),
    "ends of a filled jump": (lambda: clause(Label(5), Jump(5, [both(go(2), go(2))])), 2),
    "an end that only seems one": (lambda: clause(call("b"), both(go(2), never(2))), 0),
    "an end that leads elsewhere": (lambda: clause(If(A, [both(go(2), go(2))], [call("x"), go(3)])), 0),
    "an end behind a try that does more": (
        lambda: clause(tried([go(2)], [call("e"), go(2)]), Label(5), Jump(5, [call("x"), go(2)])), 0,
    ),
    "a jump in the body, too": (lambda: clause(If(A, [go(2)], []), call("x"), go(2)), 0),
}
"""Clauses, and how deep the jump stands to which they lead."""


@pytest.mark.parametrize("case", ONE_END)
def test_a_jump_at_the_end_of_a_clause(case: str) -> None:
    handler, where = ONE_END[case]
    text = placed(node(tried([call("a"), go(1)], handler())), *rest())
    assert depth(text, "# 2") == where
    assert ("else:\n    label 1:" in text) == (where == 0)


def test_more_than_a_jump_stands_behind_the_try() -> None:
    item = tried([call("a"), go(1)], clause(both(go(2), go(2))))
    first, _, last = rest()
    text = placed(node(item), first, node(call("x"), go(7)), last)
    assert depth(text, "# 2") == 0


@pytest.mark.parametrize(
    ("body", "other", "handled", "is_inside"),
    [
        (lambda: [If(A, [go(1)], [go(7)])], lambda: [go(8)], -1, True),
        (lambda: [call("a"), go(1)], lambda: [go(8)], -1, False),
        (lambda: [If(A, [go(1)], [go(7)])], lambda: [call("c"), go(8)], -1, False),
        (lambda: [If(A, [go(1)], [go(7)])], lambda: [go(8)], 0, False),
    ],
)
def test_a_jump_of_a_body_that_goes_elsewhere(
    body: Callable[[], list[Item]], other: Callable[[], list[Item]], handled: int, is_inside: bool
) -> None:
    text = placed(node(tried(body(), [call("b"), RERAISE], handled=handled)), node(*other()))
    assert ("        # 1\n        goto 8\n" in text) == is_inside


@pytest.mark.parametrize(("tells", "exc", "is_else"), [(False, 9, False), (True, 9, True), (True, 8, False)])
def test_a_continue_out_of_a_clause_with_a_name(tells: bool, exc: int, is_else: bool) -> None:
    """Where it differs from the end of the clause, what follows the body is an `else`."""
    name = ast.Assign(targets=[ast.Name(id="x", ctx=ast.Store())], value=Temp(temp=exc))
    item = tried([call("a"), go(1)], [If(A, [name, go(6)], [RERAISE])])
    text = placed(node(item, implied=(6,), tells=tells), node(call("c")))
    assert ("else:\n    label 1:" in text) == is_else


def test_what_only_seems_to_follow_a_try_is_its_else() -> None:
    item = tried([call("a"), go(7)], [If(A, [call("b"), never(1)], [go(8)])])
    assert "else:\n    label 1:\n    goto 7\n" in placed(node(item), node(go(7)))
    other = tried([call("a"), go(7)], [If(A, [call("b"), go(1)], [go(8)])])
    assert "else:\n    label 1:" not in placed(node(other), node(go(7)))
