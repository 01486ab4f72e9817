"""What counts as the same result."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import torch

from depyf.fix.results import Enough, Record, Recorder, compare, read_record
from depyf.fix.tries import counts_of

NAN = float("nan")


def record(*values: object) -> Record:
    return Record(calls=[list(values)])


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (torch.tensor([1.0, NAN]), torch.tensor([1.0, NAN])),
        (torch.tensor([True]), torch.tensor([True])),
        (NAN, NAN),
        ("a", "a"),
    ],
)
def test_equal_in_every_bit(first: object, other: object) -> None:
    comparison = compare(record(first), record(other))
    assert comparison.is_equal and comparison.is_bitwise and comparison.compared == 1


def test_equal_within_tolerances_is_told_apart() -> None:
    comparison = compare(record(torch.tensor(1.0)), record(torch.tensor(1.0 + 1e-6)))
    assert comparison.is_equal and not comparison.is_bitwise


@pytest.mark.parametrize(
    ("first", "other", "difference"),
    [
        (torch.tensor(1.0), torch.tensor(2.0), "value 0"),
        (torch.tensor(1.0), torch.tensor(1), "torch.float32"),
        (torch.ones(2), torch.ones(3), r"\(2,\), not torch.float32 of \(3,\)"),
        (torch.tensor(NAN), torch.tensor(0.0), "value 0"),
        (1, True, "1, not True"),
        (None, 1, "None, not 1"),
    ],
)
def test_differences_are_named(first: object, other: object, difference: str) -> None:
    comparison = compare(record(first), record(other))
    assert not comparison.is_equal
    assert re.search(difference, comparison.difference)


def test_another_number_of_calls_is_no_equal_result() -> None:
    assert compare(Record(calls=[[1]]), Record(calls=[[1], [1]])).difference == "1 calls, not 2"
    assert not compare(None, record(1)).is_equal


def test_a_recorder_keeps_results_changed_arguments_and_gradients(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "compile", lambda model, **options: model)
    recorder = Recorder(most=2)
    recorder.install()
    given = torch.ones(2, requires_grad=True)

    def changes(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        y.add_(1)
        return x * 3

    step = torch.compile(changes)
    for _ in range(3):
        step(given, torch.zeros(1)).sum().backward()
    recorder.write(tmp_path / "r.pt")
    read_back = read_record(tmp_path / "r.pt")
    assert read_back is not None and read_back.left_out == 1
    assert [len(call) for call in read_back.calls] == [3, 3]
    assert read_back.calls[0][2].item() == 1
    assert read_back.state["argument 0.grad"].tolist() == [9.0, 9.0]


def test_a_recorder_can_stop_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", lambda model, **options: model)
    recorder = Recorder(most=1, stops=True)
    recorder.install()
    with pytest.raises(Enough):
        torch.compile(lambda x: x)(torch.ones(1))


def test_a_call_that_compiles_has_no_time_of_its_own() -> None:
    assert Record(seconds=[9.0, 1.0, 8.0, 1.0, 2.0, 7.0], compiling=[0, 2, 5]).steady == {3: 1.0, 4: 2.0}


def test_the_calls_that_compiled_are_known() -> None:
    torch._dynamo.reset()
    recorder = Recorder(most=8)
    compiled = recorder._wrapped(torch.compile(lambda x: x + 1, backend="eager", dynamic=False))
    for size in (2, 2, 3, 2, 4):
        compiled(torch.ones(size))
    assert (recorder.compiling, len(recorder.seconds)) == ([0, 2, 4], 5)


@pytest.mark.parametrize(
    ("entries", "calls", "compiled"),
    [
        ([(None, "graph break")], 3, 0),
        ([(None, "graph break"), (2, None)], 3, 2),
        ([(None, None)], None, 0),
        ([], None, 0),
    ],
)
def test_calls_of_a_function_that_could_not_be_compiled_are_counted(
    entries: list[tuple[int | None, str | None]], calls: int | None, compiled: int
) -> None:
    compiles = [
        SimpleNamespace(hits=hits, failure=failure, breaks=[], seconds={"total": 1.0}) for hits, failure in entries
    ]
    root = SimpleNamespace(filename="/a/user.py", first_line=4, compiles=compiles)
    session = SimpleNamespace(
        compiles=lambda: [(root, entry) for entry in compiles], roots=lambda: [root], functions={}
    )
    counts = counts_of(session, Record(seconds=[0.1] * 3, entries=["user.py:4"]))  # type: ignore[arg-type]
    assert (counts.calls, counts.compiled) == (calls, compiled)
