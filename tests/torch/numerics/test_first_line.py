"""The first line at which the graphs are not what plain Python does: functions that ask whether they are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.torch.numerics.places import user_line  # noqa: E402
from depyf.torch.numerics.recording import record  # noqa: E402

Tensor = torch.Tensor


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()


class Gain:
    value = 1.0


def is_compiled() -> bool:
    return bool(torch.compiler.is_compiling())


def number(x: Tensor) -> Tensor:
    k = 1 if is_compiled() else 2  # first
    y = x * 2.0
    return torch.roll(y, k, -1)


def attribute(x: Tensor) -> Tensor:
    gain = Gain()
    gain.value = 3.0 if is_compiled() else 5.0  # first
    return x * gain.value


def dtype(x: Tensor) -> Tensor:
    kind = torch.float64 if is_compiled() else torch.float32  # first
    return x.to(kind)


def loop(x: Tensor) -> Tensor:
    y = x.clone()
    for _ in range(3 if is_compiled() else 2):  # first
        y = y * 1.5
    return y


def skipped(x: Tensor) -> Tensor:
    y = x + 1.0
    if not is_compiled():  # first
        y = y * 3.0
    return y.sum(-1)


@pytest.mark.parametrize("function", [number, attribute, dtype, loop, skipped], ids=lambda function: function.__name__)
def test_the_line_that_decides(function: Callable[[Tensor], Tensor]) -> None:
    report = depyf.trace_numerics(torch.compile(function, backend="eager"))(torch.randn(3, 4))
    assert report.whole is not None
    assert report.whole.mismatches
    assert report.whole.where is not None
    assert report.whole.where.text.endswith("# first")


def items(x: Tensor, others: list[Tensor]) -> Tensor:
    others[0].add_(2.0)
    return x * 2.0


def assigned(x: Tensor) -> Tensor:
    y = x + 1.0
    x[0] = 1.0  # first
    return y


def losing(module: Any, _: list[Any]) -> Callable[..., Any]:
    return lambda *inputs: module.forward(*(value.clone() for value in inputs))


def test_a_change_of_an_item_of_a_list_is_not_called_equal() -> None:
    others = [torch.randn(4), torch.randn(4)]
    report = depyf.trace_numerics(torch.compile(items, backend=losing))(torch.randn(3, 4), others)
    assert report.whole is not None
    assert [mismatch.name for mismatch in report.whole.mismatches] == ["args[1][0] after the call"]


def test_a_lost_assignment_to_items_has_its_line() -> None:
    report = depyf.trace_numerics(torch.compile(assigned, backend=losing))(torch.randn(3, 4))
    assert report.first is not None
    assert report.first.where is not None
    assert report.first.where.text.endswith("# first")


def scaled(x: Tensor) -> Tensor:
    y = torch.nn.functional.rms_norm(x, (4,))  # first
    return y * 4.0


def test_the_line_of_a_function_of_torch_in_python_is_that_of_its_call() -> None:
    recording = record(scaled, (torch.randn(3, 4),), {}, loss=None, backward=False)
    node = next(node for node in recording.modules[0].graph.nodes if node.op == "call_function")
    where = user_line(node)
    assert where is not None
    assert where.text.endswith("# first")
