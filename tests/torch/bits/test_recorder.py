"""Hashes recorded while a program runs: the file, its names and lines, and the values of one launch."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from torch._inductor import config  # noqa: E402 - after the check that torch is there
from torch._inductor.graph import GraphLowering  # noqa: E402

from depyf.findings.bits_compared import compared  # noqa: E402
from depyf.model.bits_log import BitsLog, read_bits  # noqa: E402
from depyf.torch.bits.kept import Place, load_launch, read_place  # noqa: E402
from depyf.torch.bits.kept_values import compared_values  # noqa: E402
from depyf.torch.bits.recorder import BitsRecorder, Command  # noqa: E402

Tensor = torch.Tensor

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not hasattr(GraphLowering, "_compile_to_module_lines"),
        reason="the code generator of this torch has other seams",
    ),
]


def summed(x: Tensor, weight: Tensor) -> Tensor:
    y = torch.relu(x @ weight)
    z = y.sum(-1)
    return (z * z).sum()


def recorded(folder: Path, *, width: int | None = None, steps: int = 2, keep: Place | None = None) -> BitsLog:
    """Record some steps of training into a folder, with vectors of a width."""
    folder.mkdir()
    torch._dynamo.reset()
    torch.manual_seed(0)
    weight = torch.randn(64, 64, requires_grad=True)
    recorder = BitsRecorder(folder, Command(["train.py"]), keep)
    recorder.begin()
    try:
        with config.patch({"cpp.simdlen": width}):
            step = torch.compile(summed)
            for _ in range(steps):
                step(torch.randn(96, 64), weight).backward()
    finally:
        recorder.end()
    return read_bits(folder)


def test_two_runs_of_one_program_and_another_vector_width(tmp_path: Path) -> None:
    ours, again = recorded(tmp_path / "a"), recorded(tmp_path / "again")
    assert [module.part for module in ours.modules.values()] == ["forward", "backward"]
    forward = ours.modules[0]
    assert (forward.function, forward.inputs) == ("summed", ("x", "weight"))
    places = [result.where for launch in forward.launches for result in launch.results]
    assert {place.text for place in places if place is not None} >= {"y = torch.relu(x @ weight)", "z = y.sum(-1)"}
    assert [(call.module, call.call) for call in ours.calls] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert ours.calls[0].inputs[0].startswith("f32[96, 64]:")
    same = compared(ours, again)
    assert same.is_equal, same.first
    assert not same.not_compared

    other = compared(ours, recorded(tmp_path / "b", width=1))
    assert other.facts == {"option cpp.simdlen": ("not set", "1")}
    first = other.first
    assert first is not None and first.kernel is not None
    assert first.kernel.result.where is not None
    assert first.kernel.result.where.text == "z = y.sum(-1)"
    assert first.kernel.same_code is False

    place = Place(0, 0, first.kernel.positions[0][0])
    recorded(tmp_path / "c", steps=1, keep=place)
    recorded(tmp_path / "d", steps=1, keep=place, width=1)
    spots = (first.kernel.positions[0][1], first.kernel.positions[1][1])
    values = compared_values(load_launch(tmp_path / "c"), load_launch(tmp_path / "d"), spots)
    assert values["data"]["gap"]["total"] == 96
    assert 0 < values["data"]["gap"]["count"] <= 96
    assert "relu" in " ".join(values["text"]), "both kernels compute the relu with equal bits"


def test_a_place_is_read_as_it_is_written() -> None:
    assert read_place(str(Place(3, 0, 12))) == Place(3, 0, 12)
    with pytest.raises(ValueError, match="unpack"):
        read_place("3.0")
