"""Tuning of kernels in a live capture, as an H200 with torch 2.11 reported it: timed events, and lookups in threads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import torch

import depyf
from depyf.model.tuning import choices
from depyf.model.user_line import UserLine
from depyf.torch.adapters import alone
from depyf.torch.capture.active import ACTIVE

STATS = {"num_choices": 20, "best_kernel": "triton_mm_8", "best_time": 0.024, "best_triton_pos": 0}
SHAPE = {"autotune_shape": "1024x1024, 1024x1024", "autotune_choices_stats": json.dumps(STATS)}


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def event(phase: str, at: float, **arguments: str) -> None:
    tuning_event = {"name": "mm_template_autotuning", "ph": phase, "ts": at, "args": {"compile_id": "0/0", **arguments}}
    torch._logging.trace_structured("chromium_event", payload_fn=lambda: tuning_event, expect_trace_id=False)


def the_compile(directory: Path) -> dict[str, Any]:
    index = json.loads((directory / "index.json").read_text())
    ((function,),) = ([entry] for entry in index["functions"])
    (compiled,) = function["compiles"]
    return dict(compiled)


def test_a_choice_between_kernels_is_an_artefact_of_its_compile(tmp_path: Path) -> None:
    torch._dynamo.reset()
    with depyf.prepare_debug(str(tmp_path)):
        torch.compile(doubled, backend="eager")(torch.ones(3))
        event("B", 1e6)
        event("E", 3e6, **SHAPE)
    (file,) = (artefact["file"] for artefact in the_compile(tmp_path)["artefacts"] if artefact["stage"] == "autotuning")
    (choice,) = choices([(tmp_path / file).read_text()])
    assert (choice.operation, choice.best, choice.milliseconds, choice.seconds) == ("mm", "triton_mm_8", 0.024, 2.0)


def test_a_lookup_for_a_kernel_in_a_thread_of_the_compiler_is_no_compile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = alone.Alone(1, object, (UserLine("thread.py", 58, "", "run"),), None, False, "precompile")
    torch._dynamo.reset()
    with depyf.prepare_debug(str(tmp_path)):
        torch.compile(doubled, backend="eager")(torch.ones(3))
        monkeypatch.setattr(alone, "in_progress", lambda: here)
        ACTIVE.on_record({"artifact": {"name": "triton_cache_miss", "encoding": "json"}}, '{"key": "k"}')
        monkeypatch.undo()
    assert [artefact["cache"] for artefact in the_compile(tmp_path)["caches"]] == ["triton"]
