"""A profile of a program whose Triton kernels are interpreted names them, with the lines that they serve."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.torch.profile import programs
from tests.torch.profile.test_profile import line_of, numbers, profiled

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="triton is not installed (`make test-triton` does that)"
)


@pytest.fixture(autouse=True)
def _interpreted() -> Iterator[None]:
    from depyf.torch.kernels.interpreter import interpreting

    torch._dynamo.reset()
    with torch._inductor.config.patch(cpu_backend="triton", force_disable_caches=True), interpreting():
        yield


def test_interpreted_kernels_have_their_names_and_lines_forward_and_backward(tmp_path: Path) -> None:
    from torch._inductor.runtime import triton_heuristics

    before = triton_heuristics.CachingAutotuner.run
    model = torch.compile(programs.Model())
    given = torch.randn(96, 96)
    result = profiled(tmp_path, lambda: model(given).backward(), steps=12)
    kernels = [row for row in result["kernels"] if row["name"].startswith("triton_")]
    assert {row["kind"] for row in kernels} == {"kernel", "backward"}
    assert all(row["lines"] for row in kernels)
    gelu = line_of("gelu(y).sum()")
    assert any(gelu in numbers(row) for row in result["lines"])
    assert result["kinds"]["wrapper"] < result["kinds"]["kernel"] + result["kinds"]["backward"]
    assert triton_heuristics.CachingAutotuner.run is before
