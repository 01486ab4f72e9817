"""The split of a thread's time into cells."""

from __future__ import annotations

from typing import Any

from depyf.model.compile_times import REST, CompileTimes, Place, function_times, module_times
from depyf.trace.ledger import Ledger, Spot, collected

MS = 1_000_000
LINE: Spot = ("a.py", 7, "f", "layers.0", "Block")
BELOW: Spot = ("b.py", 3, "g", "", "")


def event(name: str, phase: str, compile_id: str = "0/0") -> dict[str, Any]:
    return {"name": name, "ph": phase, "args": {"compile_id": compile_id}}


class Clock:
    """A clock that a test sets, in milliseconds."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now * MS

    def after(self, milliseconds: int) -> None:
        self.now += milliseconds


def resolve(spot: Spot) -> tuple[int, str, bool]:
    return 1, spot[2], spot[0].startswith("torch/")


def result(ledger: Ledger) -> CompileTimes:
    return collected([ledger], resolve, lambda compile_id: Place(-1, "a.py", 1, "f"))


def milliseconds(times: CompileTimes) -> dict[tuple[str, tuple[int, ...], str], int]:
    return {
        (cell.compile, times.places[cell.place].lines, cell.stage): round(1000 * cell.seconds) for cell in times.cells
    }


def test_each_moment_belongs_to_the_innermost_step() -> None:
    clock = Clock()
    ledger = Ledger(clock)
    ledger.event(event("dynamo", "B"))
    clock.after(1)
    ledger.event(event("bytecode_tracing", "B"))
    clock.after(2)
    line = ledger.root.below(LINE)
    ledger.move(line)
    clock.after(4)
    depth = ledger.enter(place=line.below(BELOW))
    clock.after(8)
    ledger.leave(depth)
    clock.after(16)
    ledger.event(event("bytecode_tracing", "E"))
    ledger.event(event("backend_compile", "B"))
    clock.after(32)
    ledger.event(event("a pass that nobody knows", "B"))
    clock.after(64)
    ledger.event(event("a pass that nobody knows", "E"))
    ledger.event(event("backend_compile", "E"))
    ledger.event(event("dynamo", "E"))
    clock.after(1000)
    times = result(ledger)
    assert milliseconds(times) == {
        ("0/0", (), REST): 1,
        ("0/0", (), "tracing"): 2,
        ("0/0", (7,), "tracing"): 20,
        ("0/0", (3,), "tracing"): 8,
        ("0/0", (), "backend"): 96,
    }
    assert round(times.seconds, 6) == 0.127
    assert {function.key[2]: round(1000 * function.seconds) for function in function_times(times)} == {"f": 118, "g": 8}
    assert round(1000 * sum(function_times(times)[0].total.values())) == 126
    assert [(module.path, module.kind, round(1000 * module.seconds)) for module in module_times(times)] == [
        ("layers.0", "Block", 28)
    ]


def test_functions_of_torch_count_for_their_callers() -> None:
    clock = Clock()
    ledger = Ledger(clock)
    ledger.event(event("dynamo", "B"))
    ledger.event(event("bytecode_tracing", "B"))
    ledger.move(ledger.root.below(LINE).below(("torch/nn/linear.py", 9, "forward", "", "")))
    clock.after(5)
    ledger.event(event("dynamo", "E"))
    (times,) = [function for function in function_times(result(ledger)) if function.seconds]
    assert (times.key[2], list(times.lines)) == ("f", [(7,)])


def test_a_lost_end_ends_with_the_step_around_it() -> None:
    clock = Clock()
    ledger = Ledger(clock)
    ledger.event(event("dynamo", "B"))
    depth = ledger.enter("guards")
    ledger.event(event("bytecode_tracing", "B"))
    ledger.leave(depth)
    assert [step.name for step in ledger.steps] == ["dynamo"]
    ledger.event(event("Scheduler.codegen", "E"))
    ledger.event(event("build_guards", "B"))
    ledger.event(event("dynamo", "E"))
    assert not ledger.steps


def test_threads_that_work_for_a_compile_do_not_count() -> None:
    clock = Clock()
    ledger = Ledger(clock)
    ledger.event(event("compile_file", "B", "None"))
    clock.after(7)
    ledger.event(event("compile_file", "E", "None"))
    assert not result(ledger).cells


def test_ids_that_torch_uses_again_after_a_reset_are_told_apart() -> None:
    clock = Clock()
    ledger = Ledger(clock)
    for _ in range(2):
        ledger.event(event("dynamo", "B"))
        ledger.event(event("entire_frame_compile", "B"))
        clock.after(1)
        ledger.event(event("entire_frame_compile", "E"))
        ledger.event(event("dynamo", "E"))
    ledger.event(event("entire_backward_compile", "B"))
    clock.after(1)
    ledger.event(event("entire_backward_compile", "E"))
    assert [(compile_id, sum(stages.values())) for compile_id, stages in result(ledger).by_compile().items()] == [
        ("0/0", 0.001),
        ("0/0#2", 0.002),
    ]


def test_each_outermost_step_is_a_wait_with_its_compile() -> None:
    ticks = iter(range(0, 1000, 10))
    ledger = Ledger(lambda: next(ticks))
    ledger.event({"name": "dynamo", "ph": "B", "args": {"compile_id": "0/0"}})
    ledger.event({"name": "backend_compile", "ph": "B", "args": {"compile_id": "0/0"}})
    ledger.event({"name": "dynamo", "ph": "E"})
    depth = ledger.enter("depyf")
    ledger.leave(depth)
    assert ledger.waits == [(0, 20, "0/0", "dynamo"), (30, 40, "", "")]
