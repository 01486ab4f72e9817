"""The table of passes: its order is checked, passes can be left out, and a recorder hears of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from depyf.decompiler.passes import registry as registry_of_passes
from depyf.decompiler.passes.names import Names
from depyf.decompiler.passes.registry import REGISTERED, Misordered, ordered, reasons, registers
from depyf.decompiler.pipeline import work
from depyf.decompiler.pipeline.run import decompile
from depyf.decompiler.pipeline.table import ORDER, PASSES
from depyf.decompiler.pipeline.work import Pass, Passes, Stage, Work, run_passes
from depyf.decompiler.steps import Stopped, present, recording, step


def nothing(state: Work) -> None:
    """Do nothing."""


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Pass]]:
    """Empty the registry, and forget the passes that were derived from it, before and after a test."""
    with monkeypatch.context() as patch:
        patch.setattr(work, "REGISTERED", {})
        patch.setattr(registry_of_passes, "REGISTERED", work.REGISTERED)
        patch.setattr(work, "load_flow", lambda: None)
        work._registered.cache_clear()
        yield work.REGISTERED
    work._registered.cache_clear()


def test_a_pass_runs_on_code_with_the_operations_that_it_needs(registry: dict[str, Pass]) -> None:
    ran: list[str] = []
    code = read((lambda a: a.b).__code__)
    state = Work(code, Names(set()), {}, 0, None, frozenset(), normalise(code))
    needs = {"attribute": frozenset({"LOAD_ATTR", "IMPORT_NAME"}), "import": frozenset({"IMPORT_NAME"})}
    for name, ops in needs.items():
        registers(name, Stage.LIFT, "", needs=ops)(lambda _, name=name: ran.append(name))
    with recording(Listener()):
        run_passes(state, Passes(lambda row: True))
    assert ran == ["attribute"]
    assert [row.name for row in Passes(lambda row: row.name != "attribute").passes] == ["import"]


def test_a_pass_gets_the_fields_that_it_takes_and_gives_one(registry: dict[str, Pass]) -> None:
    code = read((lambda a: a.b).__code__)
    state = Work(code, Names(set()), {}, 0, None, frozenset(), normalise(code))

    @registers("one", Stage.LIFT, "", takes=("stmts", "name=code.name"))
    def named(stmts: list[str], name: str) -> list[str]:
        return [*stmts, name]

    @registers("two", Stage.LIFT, "", takes=("stmts",), gives="has_conditions", after={"one": "it gives the names"})
    def count(stmts: list[str]) -> int:
        return len(stmts)

    @registers("three", Stage.LIFT, "", takes=("stmts",), after={"two": "it counts them"})
    def clear(stmts: list[str]) -> None:
        stmts.clear()

    state.stmts = ["a"]  # type: ignore[list-item]
    with recording(Listener()):
        run_passes(state, Passes(lambda row: True))
    assert (state.stmts, state.has_conditions) == ([], 2)
    assert named(["b"], "c") == ["b", "c"]


def test_two_passes_do_not_share_a_name(registry: dict[str, Pass]) -> None:
    registers("one", Stage.LIFT, "")(nothing)
    registers("one", Stage.LIFT, "")(nothing)
    with pytest.raises(Misordered, match="the name one: in .*test_table and in"):
        registers("one", Stage.LIFT, "")(step)


ONE = Pass("one", Stage.LIFT, nothing, "", defined=("z", 1))
TWO = Pass("two", Stage.BODY, nothing, "")
THREE = Pass("three", Stage.LIFT, nothing, "", defined=("a", 1))


def test_passes_without_reasons_are_in_the_order_of_their_stages_and_definitions() -> None:
    assert ordered([TWO, ONE, THREE]) == (THREE, ONE, TWO)


@pytest.mark.parametrize("fact", ["after", "before"])
def test_a_reason_decides(fact: str) -> None:
    first = dataclasses.replace(ONE, before=(("three", "why"),)) if fact == "before" else ONE
    three = dataclasses.replace(THREE, after=(("one", "why"),)) if fact == "after" else THREE
    assert ordered([TWO, three, first]) == (first, three, TWO)
    assert reasons([first, three]) == [("one", "three", "why")]


@pytest.mark.parametrize(
    ("passes", "says"),
    [
        ((dataclasses.replace(TWO, before=(("one", "why"),)), ONE), "already left"),
        (
            (
                dataclasses.replace(ONE, before=(("three", "why"),)),
                dataclasses.replace(THREE, before=(("one", "why"),)),
            ),
            "before each other: one, three",
        ),
    ],
)
def test_reasons_that_contradict_each_other(passes: tuple[Pass, ...], says: str) -> None:
    with pytest.raises(Misordered, match=says):
        ordered(passes)


def test_every_pass_says_what_it_does_and_every_reason_names_passes_and_says_why() -> None:
    names = [row.name for row in PASSES]
    assert all(row.does and row.name == row.name.lower() for row in PASSES)
    assert {name for first, then, _ in ORDER for name in (first, then)} <= set(names)
    assert all(because for _, _, because in ORDER)
    assert all(names.index(first) < names.index(then) for first, then, _ in ORDER)


def test_the_passes_of_straight_line_code_are_in_the_order_of_all() -> None:
    eager = [row.name for row in PASSES if row.is_eager]
    assert [row.name for row in ordered(row for row in REGISTERED.values() if row.is_eager)] == eager
    assert {"lift", "labels", "super"} <= set(eager)
    assert {"regions", "tidy", "dispatch"}.isdisjoint(eager)


class Listener:
    """Writes down what it hears, and stops the work after one pass."""

    def __init__(self, stop_after: str = "") -> None:
        self.heard: list[str] = []
        self.stop_after = stop_after

    def begin(self, state: Work) -> None:
        self.heard.append(f"begin {state.code.name}")

    def attempt(self, state: Work, why: str) -> None:
        self.heard.append(f"again {why}")

    def step(self, message: str) -> None:
        self.heard.append(f"step {message}")

    def after(self, name: str, state: Work) -> None:
        self.heard.append(name)
        if name == self.stop_after:
            raise Stopped


def sample(a: object, b: object) -> object:
    return a and (lambda: b)


def heard(listener: Listener) -> list[str]:
    with recording(listener):
        decompile(read(sample.__code__))
    return listener.heard


def test_a_recorder_hears_of_every_pass_of_every_code_object() -> None:
    before = present()
    all_heard = heard(Listener())
    assert [name for name in all_heard if name.startswith("begin")] == ["begin <lambda>", "begin sample"]
    assert all_heard.count("labels") == 2
    assert all_heard[-1] == PASSES[-1].name
    assert present() is before


def test_a_recorder_can_stop_the_work() -> None:
    names = heard(Listener(stop_after="ends"))
    assert names.count("ends") == 2
    assert "build" not in names


def test_a_step_is_heard_with_its_parts() -> None:
    listener = Listener()
    step("nobody {}", "listens")
    with recording(listener):
        step("block {} goes", 3)
    assert listener.heard == ["step block 3 goes"]


def test_a_pass_that_is_left_out_does_not_run() -> None:
    listener = Listener()
    with recording(listener):
        decompile(read(sample.__code__), without=frozenset({"tidy"}))
    assert "tidy" not in listener.heard
    assert "tidy" in heard(Listener())
