"""A default device adds a frame of torch's to each operation. Graphs still name the user's lines."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import torch

import depyf
from depyf.model.run import Unavailable
from depyf.torch.adapters import user_frames


def scaled(x: torch.Tensor) -> torch.Tensor:
    y = torch.relu(x)
    return y * 2


def named(directory: Path) -> list[str]:
    text = next(directory.glob("*Captured_Graph*")).read_text()
    return [row.partition("code: ")[2] for row in text.splitlines() if "# File:" in row]


def test_graphs_name_the_users_lines_under_a_default_device(tmp_path: Path) -> None:
    undo = user_frames.leave_out_default_device()
    if isinstance(undo, Unavailable):
        pytest.skip(undo.reason)
    undo()
    torch._dynamo.reset()
    with depyf.prepare_debug(str(tmp_path)), torch.device("cpu"):
        torch.compile(scaled, backend="eager")(torch.ones(3))
    assert named(tmp_path) == ["y = torch.relu(x)", "return y * 2"]


def test_torchs_own_method_is_back_afterwards() -> None:
    from torch._dynamo.symbolic_convert import InstructionTranslatorBase as Translator

    before = getattr(Translator, "is_co_filename_from_nn_modules", None)
    undo = user_frames.leave_out_default_device()
    if isinstance(undo, Unavailable):
        pytest.skip(undo.reason)
    undo()
    assert Translator.is_co_filename_from_nn_modules is before
