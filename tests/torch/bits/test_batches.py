"""Rows alone against the batch, and the order in which settings are tried."""

from __future__ import annotations

import importlib.util

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.cli.bits import _sizes  # noqa: E402
from depyf.torch.bits.batches import NoBatch, Split  # noqa: E402
from depyf.torch.bits.first import all_of  # noqa: E402
from depyf.torch.bits.trials import Trial, in_order, undone  # noqa: E402
from depyf.torch.numerics.recording import GraphCall  # noqa: E402

Tensor = torch.Tensor


def call_of(**inputs: object) -> GraphCall:
    graph = torch.fx.Graph()
    nodes = [graph.placeholder(name) for name in inputs]
    graph.output((nodes[0],))
    return GraphCall(0, 0, torch.fx.GraphModule(torch.nn.Module(), graph), list(inputs.values()), False)


class TestSplit:
    def test_parameters_and_other_sizes_are_not_divided(self) -> None:
        call = call_of(x=torch.arange(6.0).reshape(6, 1), l_m_parameters_weight_=torch.ones(6, 6), y=torch.ones(3))
        split = Split(call, 2, 6)
        assert split.batched() == [0]
        assert [part[0].tolist() for part in split.parts()] == [[[0.0], [1.0]], [[2.0], [3.0]], [[4.0], [5.0]]]
        assert [tuple(part[1].shape) for part in split.parts()] == [(6, 6)] * 3

    def test_a_size_among_the_inputs_becomes_that_of_a_part(self) -> None:
        split = Split(call_of(s0=6, x=torch.ones(6, 2)), 1, 6)
        assert next(split.parts())[0] == 1

    @pytest.mark.parametrize(("part", "size"), [(1, 5), (4, 6), (6, 6)])
    def test_parts_that_do_not_fit_are_refused(self, part: int, size: int) -> None:
        with pytest.raises(NoBatch):
            Split(call_of(x=torch.ones(6, 2)), part, size).batched()


def test_the_sizes_of_a_command() -> None:
    assert _sizes("64,1") == (1, 64)
    for text in ("1", "1,1", "3,64", "a,b", "0,4"):
        with pytest.raises(ValueError, match="--batch needs"):
            _sizes(text)


def test_settings_that_undo_the_users_own_come_first_then_those_of_the_cause() -> None:
    undoing = undone({"fallback_random": False}, all_of)
    trials = [Trial("max_fusion_size=1"), Trial("emulate_precision_casts=True"), *undoing]
    names = [trial.name for trial in in_order(trials, "precision of an intermediate: add stays float32")]
    assert names == ["without fallback_random=False", "emulate_precision_casts=True", "max_fusion_size=1"]


def products(x: Tensor, w: Tensor) -> Tensor:
    y = torch.relu(x * 2.0)
    return (y @ w) * 2.0


def dropped(x: Tensor) -> Tensor:
    y = torch.nn.functional.dropout(x, 0.5)
    return y * 4.0


def rounded(x: Tensor) -> Tensor:
    y = torch.softmax(x * 2.0, -1)
    return y * 4.0


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="triton is not installed (`make test-triton`)")
class TestInterpreted:
    @pytest.fixture(autouse=True)
    def _triton(self) -> object:
        from depyf.torch.kernels.interpreter import interpreting

        torch.manual_seed(0)
        with interpreting(), torch._inductor.config.patch(cpu_backend="triton"):
            yield

    def test_a_product_is_the_first_that_depends_on_the_batch(self) -> None:
        run = depyf.first_difference(torch.compile(products), batch=(1, 8))
        report = run(torch.randn(8, 32), torch.randn(32, 32))
        if not report.results_different:
            pytest.skip("this library multiplies one row as it does eight")
        assert report.first is not None
        assert report.first.where is not None
        assert report.first.where.text == "return (y @ w) * 2.0"
        assert "each earlier cut is equal" in report.first.cause

    def test_the_line_of_an_interpreted_kernel(self) -> None:
        first = depyf.first_difference(torch.compile(rounded))(torch.randn(8, 32)).first
        assert first is not None
        assert first.where is not None
        assert first.where.text == "y = torch.softmax(x * 2.0, -1)"
        assert first.line

    def test_the_line_of_a_random_number(self) -> None:
        first = depyf.first_difference(torch.compile(dropped))(torch.randn(8, 32)).first
        assert first is not None
        assert first.where is not None
        assert first.where.text == "y = torch.nn.functional.dropout(x, 0.5)"
        assert first.cause.startswith("a random number")

    def test_a_cast_to_eight_bits_rounds_as_torch_does(self) -> None:
        torch._dynamo.reset()
        x = torch.randn(4, 64).bfloat16()
        compiled = torch.compile(lambda x: x.to(torch.float8_e4m3fn).to(torch.bfloat16))
        assert torch.equal(compiled(x), x.to(torch.float8_e4m3fn).to(torch.bfloat16))
