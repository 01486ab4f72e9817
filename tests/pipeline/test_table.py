"""The table of passes: its order is checked, passes can be left out, and a recorder hears of each."""

from __future__ import annotations

import dataclasses

import pytest

from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from depyf.decompiler.passes.names import Names
from depyf.decompiler.pipeline.run import decompile
from depyf.decompiler.pipeline.table import ORDER, PASSES
from depyf.decompiler.pipeline.work import Before, Misordered, Pass, Passes, Stage, Work, check_order, run_passes
from depyf.decompiler.steps import Stopped, present, recording, step


def nothing(work: Work) -> None:
    """Do nothing."""


def test_a_pass_runs_on_code_with_the_operations_that_it_needs() -> None:
    ran: list[str] = []
    code = read((lambda a: a.b).__code__)
    work = Work(code, Names(set()), {}, 0, None, frozenset(), normalise(code))
    needs = {"attribute": frozenset({"LOAD_ATTR", "IMPORT_NAME"}), "import": frozenset({"IMPORT_NAME"})}
    with recording(Listener()):
        for name, ops in needs.items():
            run_passes(work, Passes([Pass(name, Stage.LIFT, lambda work, name=name: ran.append(name), "", needs=ops)]))  # type: ignore[misc]
    assert ran == ["attribute"]


ONE = Pass("one", Stage.LIFT, nothing, "")
TWO = Pass("two", Stage.BODY, nothing, "")


def test_the_table_as_it_is_keeps_its_order() -> None:
    check_order(PASSES, ORDER)


@pytest.mark.parametrize("number", range(len(ORDER)))
def test_each_constraint_is_checked(number: int) -> None:
    turned = Before(ORDER[number].then, ORDER[number].first, "for the test")
    with pytest.raises(Misordered, match="for the test"):
        check_order(PASSES, (turned,))


@pytest.mark.parametrize(
    ("passes", "order", "says"),
    [
        ((ONE, dataclasses.replace(TWO, name="one")), (), "one name"),
        ((TWO, ONE), (), "already left"),
        ((ONE, TWO), (Before("one", "three", ""),), "three, which is no pass"),
        ((ONE, TWO), (Before("two", "one", "of the light"),), "of the light"),
    ],
)
def test_a_wrong_table(passes: tuple[Pass, ...], order: tuple[Before, ...], says: str) -> None:
    with pytest.raises(Misordered, match=says):
        check_order(passes, order)


def test_every_pass_says_what_it_does_and_every_constraint_why() -> None:
    assert all(one.does and one.name == one.name.lower() for one in PASSES)
    assert all(constraint.because for constraint in ORDER)


class Listener:
    """Writes down what it hears, and stops the work after one pass."""

    def __init__(self, stop_after: str = "") -> None:
        self.heard: list[str] = []
        self.stop_after = stop_after

    def begin(self, work: Work) -> None:
        self.heard.append(f"begin {work.code.name}")

    def attempt(self, work: Work, why: str) -> None:
        self.heard.append(f"again {why}")

    def step(self, message: str) -> None:
        self.heard.append(f"step {message}")

    def after(self, name: str, work: Work) -> None:
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
    assert all_heard[-1] == "super"
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
