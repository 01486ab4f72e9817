"""What a profile says where a GPU computes: `make test-cuda` runs these on a machine that has one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import depyf
from tests.torch.profile import programs
from tests.torch.profile.test_profile import line_of, numbers

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no GPU that torch can use")


@pytest.fixture(autouse=True)
def _reset() -> None:
    torch._dynamo.reset()


def test_the_device_is_charged_to_the_heavy_line(tmp_path: Path) -> None:
    compiled = torch.compile(programs.heavy)
    given = torch.randn(4096, 4096, device="cuda")
    with depyf.profile(tmp_path) as profile:
        for _ in range(100):
            compiled(given)
            torch.cuda.synchronize()
            profile.step()
    result = profile.result
    assert result["step"]["on_device"]
    assert numbers(result["lines"][0]) == [line_of("the heavy line")]
    assert result["lines"][0]["share"] > 0.8
    assert result["step"]["named"] > 0.95


def test_a_device_that_waits_for_the_host_is_told_apart(tmp_path: Path) -> None:
    compiled = torch.compile(programs.with_break)
    given = torch.ones(8, device="cuda")
    with depyf.profile(tmp_path) as profile:
        for _ in range(200):
            compiled(given)
            profile.step()
    kinds = profile.result["kinds"]
    assert kinds["kernel"] < sum(seconds for kind, seconds in kinds.items() if kind != "kernel")


def test_triton_kernels_serve_lines_in_forward_and_backward(tmp_path: Path) -> None:
    model = programs.Model().cuda()
    compiled = torch.compile(model)
    given = torch.randn(96, 96, device="cuda")
    with depyf.profile(tmp_path) as profile:
        for _ in range(100):
            compiled(given).backward()
            profile.step()
    kernels = [row for row in profile.result["kernels"] if row["name"].startswith("triton_")]
    assert {row["kind"] for row in kernels} == {"kernel", "backward"}
    assert all(row["lines"] for row in kernels)
