"""`trace_numerics` goes on inside of Inductor's kernels: to the line of the kernel, and through it to the user's."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from torch._inductor.graph import GraphLowering  # noqa: E402 - after the check that torch is there

import depyf  # noqa: E402 - after the check that torch is there
from depyf.torch.numerics.against_eager import Comparison  # noqa: E402 - after the check that torch is there
from depyf.torch.numerics.report import Kind, NumericsReport  # noqa: E402

Tensor = torch.Tensor

triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="triton is not installed (`make test-triton` does that)"
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not hasattr(GraphLowering, "_compile_to_module_lines"),
        reason="the code generator of this torch has other seams",
    ),
]


@pytest.fixture(params=[pytest.param("triton", marks=triton)])
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    torch._dynamo.reset()
    torch.manual_seed(0)
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch._inductor.config.patch(force_disable_caches=True))
        if request.param == "triton":
            from depyf.torch.kernels.interpreter import interpreting

            stack.enter_context(torch._inductor.config.patch(cpu_backend="triton"))
            stack.enter_context(interpreting())
        yield request.param


def logarithm(x: Tensor) -> Tensor:
    shifted = x - 1
    scaled = shifted * 2
    return torch.log(scaled) + x


def grown(x: Tensor) -> Tensor:
    half = x.half() * 300
    return half * half


@contextlib.contextmanager
def writing(old: str, new: str) -> Iterator[None]:
    """Have Inductor's code generator write `new` for `old` in its kernels."""
    before: Callable[..., Any] = GraphLowering.codegen

    def codegen(self: GraphLowering) -> tuple[object, ...]:
        first_input, *rest = before(self)
        assert old in first_input.value
        first_input.value = first_input.value.replace(old, new)
        return (first_input, *rest)

    with mock.patch.object(GraphLowering, "codegen", codegen):
        yield


def trace(function: Callable[..., Any], *args: Any) -> NumericsReport:
    return depyf.trace_numerics(torch.compile(function), backward=False)(*args)


# A C++ compiler takes its time: one test of it is enough here, `benchmarks.kernel_mutations` has sixty.
@pytest.mark.parametrize("language", ["cpp", pytest.param("triton", marks=triton)], indirect=True)
def test_the_line_that_gives_the_first_nan(language: str) -> None:
    report = trace(logarithm, torch.tensor([3.0, 0.5, 2.0]))
    assert report.first is not None
    assert report.first.kind is Kind.NAN
    kernel = report.first.kernel
    assert kernel is not None, report
    assert (kernel.node, kernel.values) == ("log", "1 of its 3 values are nan")
    assert "log(" in kernel.text
    assert kernel.where is not None
    assert kernel.where.text == "return torch.log(scaled) + x"
    assert f"in the kernel {kernel.kernel} (forward graph), line {kernel.line} for log: {kernel.text}" in str(report)


def test_the_line_that_overflows(language: str) -> None:
    report = trace(grown, torch.tensor([0.5, 3.0, 1.0]))
    assert report.first is not None
    assert report.first.kind is Kind.INFINITE
    kernel = report.first.kernel
    assert kernel is not None, report
    assert kernel.where is not None
    assert kernel.where.text == "return half * half"


def test_the_line_that_is_not_as_eager(language: str) -> None:
    with writing("tmp0 - tmp1", "tmp0 + tmp1"):
        report = trace(logarithm, torch.tensor([3.0, 1.5, 2.0]))
    assert report.first is not None
    assert report.first.kind is Kind.DIFFERENT
    kernel = report.first.kernel
    assert kernel is not None, report
    assert "tmp0 + tmp1" in kernel.text
    assert kernel.where is not None
    assert kernel.where.text == "shifted = x - 1"


def test_nothing_is_said_where_all_is_well(language: str) -> None:
    assert trace(logarithm, torch.tensor([3.0, 1.5, 2.0])).findings == []


def joined(x: Tensor) -> Tensor:
    return torch.cat([x.exp(), x.log1p()], -1)


def normal(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)


def compared(x: Tensor) -> tuple[Tensor, Tensor]:
    return x > x.flip(0), x < x.flip(0)


def scaled_parts(x: Tensor) -> Tensor:
    scaled = x * 2
    return scaled[:, :4] * x[:, 4:].cos()


@pytest.mark.parametrize(
    ("function", "old", "new", "node"),
    [
        pytest.param(joined, "libdevice.exp(", "libdevice.exp2(", "exp", id="lanes-under-a-mask"),
        pytest.param(normal, "tmp7 + tmp8", "tmp7 - tmp8", "add", id="a-little-off"),
        pytest.param(compared, "tmp0 > tmp1", "tmp0 < tmp1", "gt", id="as-another-node"),
        pytest.param(scaled_parts, "tmp2 * tmp4", "tmp2 + tmp4", "mul_1", id="of-a-part"),
    ],
)
def test_the_line_and_the_node_of_one_changed_operation(
    language: str, function: Callable[..., Any], old: str, new: str, node: str
) -> None:
    # The search for the node by halves compiles parts of the graph, whose kernels have other lines.
    with writing(old, new), mock.patch.object(Comparison, "first_wrong_node", lambda self: None):
        report = trace(function, torch.rand(4, 8) + 0.5)
    assert report.first is not None
    kernel = report.first.kernel
    assert kernel is not None, report
    assert (new in kernel.text, kernel.node) == (True, node), report
