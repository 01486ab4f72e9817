"""What must hold after every pass does; and a form that is broken is found, and shown in place."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from corpus.opcodes.programs import programs
from depyf.bytecode.code import Code
from depyf.bytecode.normalise import normalise
from depyf.bytecode.pyc import load
from depyf.bytecode.reader import read
from depyf.decompiler.graph.tac import Edge, Goto, Graph, Inst
from depyf.decompiler.lift.simulate import lift
from depyf.decompiler.pipeline.run import decompile
from depyf.decompiler.pipeline.table import OPTIONAL
from depyf.decompiler.pipeline.work import Work
from depyf.decompiler.show.check.graph import broken
from depyf.decompiler.show.check.passes import Broken, Checks
from depyf.decompiler.show.check.tree import broken_items, broken_statements
from depyf.decompiler.steps import recording
from depyf.decompiler.structure.tree import Enter, Jump, Label
from tests import interpreters
from tests.oracles import compiled
from tests.pipeline.samples import functions
from tests.quality.bad_input.seeds import seeds


def checked(code: Code, without: frozenset[str] = frozenset()) -> None:
    with recording(Checks()):
        decompile(code, without=without)


@pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)
def test_programs_of_each_version(version: tuple[int, int]) -> None:
    for program in programs():
        if program.runs_on(version):
            checked(compiled(program.source, version))


def test_modules_of_each_version() -> None:
    for data in seeds():
        checked(load(data))


def test_functions() -> None:
    for code in functions(8):
        checked(read(code))


@pytest.mark.parametrize("name", sorted(OPTIONAL))
def test_functions_without_a_pass(name: str) -> None:
    for code in functions(60):
        checked(read(code), frozenset((name,)))


def sample(a: list[int], b: int) -> list[int]:
    for c in a:
        if c and b:
            return [c]
    return a


def graph() -> Graph:
    return lift(normalise(read(sample.__code__)), 0)


def wrong_index(graph: Graph) -> None:
    graph.block(1).index = 7


def no_first(graph: Graph) -> None:
    graph.blocks[0] = None


def edge_to_nowhere(graph: Graph) -> None:
    graph.block(0).exit = Goto(Edge(99))


def too_many_values(graph: Graph) -> None:
    graph.block(0).exit = Goto(Edge(1, [0]))


def no_handler(graph: Graph) -> None:
    graph.block(0).handler = 3


def made_nowhere(graph: Graph) -> None:
    graph.block(0).insts.append(Inst("UNARY", "-", [4711], [4712], None, 0))


def made_twice(graph: Graph) -> None:
    graph.block(0).insts.append(graph.block(0).insts[0])


def no_operation(graph: Graph) -> None:
    graph.block(0).insts.append(Inst("FROBNICATE", None, [], [], None, 0))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (wrong_index, "block 7 lies where block 1 should"),
        (no_first, "there is no first block"),
        (edge_to_nowhere, "the edge to 99 has no target block"),
        (too_many_values, "has 1 values for 0 phis"),
        (no_handler, "handler 3 is not there"),
        (made_nowhere, "v4711 is made nowhere"),
        (made_twice, "v0 is made twice"),
        (no_operation, "there is no operation FROBNICATE"),
    ],
)
def test_a_broken_graph(damage: Callable[[Graph], None], says: str) -> None:
    assert list(broken(graph())) == []
    damaged = graph()
    damage(damaged)
    assert any(says in what for what, _ in broken(damaged))


def test_broken_items() -> None:
    jump = Jump(5)
    assert list(broken_items([jump, Label(5)], -1)) == []
    assert list(broken_items([jump], -1)) == ["a jump to 5 leads nowhere"]
    assert list(broken_items([jump], 5)) == []
    assert list(broken_items([jump, jump], 5)) == ["Jump has two places"]


def test_broken_statements() -> None:
    stmt = ast.Pass()
    empty = ast.While(test=ast.Constant(value=1), body=[], orelse=[])
    enter = Enter(manager=ast.Constant(value=1), exit=1, value=2, is_async=False)
    assert list(broken_statements([stmt], finished=True)) == []
    assert list(broken_statements([stmt, stmt], finished=False)) == ["Pass has two places"]
    assert list(broken_statements([empty], finished=False)) == ["the body of While is empty"]
    assert list(broken_statements([enter], finished=False)) == []
    assert list(broken_statements([enter], finished=True)) == ["Enter has no syntax"]


def test_the_offender_is_shown_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    class Damaging(Checks):
        def after(self, name: str, work: Work) -> None:
            if name == "lift":
                made_nowhere(work.graph)
            super().after(name, work)

    with pytest.raises(Broken) as caught, recording(Damaging()):
        decompile(read(sample.__code__))
    assert "after lift, in " in str(caught.value)
    assert "block 0\n" in str(caught.value)
    assert "v4712 = UNARY '-' v4711" in str(caught.value)
