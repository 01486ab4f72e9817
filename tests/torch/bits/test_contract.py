"""The contract `bits` of a test."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from torch._inductor.graph import GraphLowering  # noqa: E402 - after the check that torch is there

from depyf.torch.bits.contract import BitsContractError, kept_bits  # noqa: E402

Tensor = torch.Tensor


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)


def doubled(x: Tensor) -> Tensor:
    return torch.relu(x * 2.0) + 1.0


def summed(x: Tensor) -> Tensor:
    return torch.relu(x * 2.0).sum(-1)


def test_a_kind_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="'eager' or 'batch', not 'fast'"), kept_bits("fast"):
        pass


@pytest.mark.parametrize("kind", ["eager", "batch"])
def test_a_contract_without_a_graph_of_inductor_is_broken(kind: str) -> None:
    with pytest.raises(BitsContractError, match="Nothing was compared"), kept_bits(kind):
        torch.compile(doubled, backend="eager")(torch.randn(3))


@pytest.mark.slow
@pytest.mark.skipif(
    not hasattr(GraphLowering, "_compile_to_module_lines"),
    reason="the code generator of this torch has other seams",
)
class TestCompiled:
    @pytest.mark.parametrize("kind", ["eager", "batch"])
    def test_exact_operations_keep_it(self, kind: str) -> None:
        with kept_bits(kind):
            torch.compile(doubled)(torch.randn(4, 100))

    def test_a_sum_breaks_it(self) -> None:
        with pytest.raises(BitsContractError, match="First difference"), kept_bits("eager"):
            torch.compile(summed)(torch.randn(64, 100))
