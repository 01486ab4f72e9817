"""Marks for torch's profiler in Dynamo's code: they stay in what runs, and out of what is shown."""

from __future__ import annotations

import re
import types
from pathlib import Path
from typing import Any

import pytest
import torch

import depyf
from depyf.decompiler.function import decompile_function
from depyf.torch.adapters.profiler_marks import instruction_count, without_marks
from depyf.verify.level import Level
from tests.torch import programs

needs_marks = pytest.mark.skipif(
    not getattr(torch._dynamo.config, "record_runtime_overhead", False),
    reason="this torch writes no profiler calls into its code",
)

_COUNTED = re.compile(r"_\d+_[0-9a-f_]{36}|_\d+(?=\()")
"""What Dynamo counts through a process, and the random part of a name."""


def _breaking(x: torch.Tensor, items: list[torch.Tensor], by_name: dict[str, torch.Tensor]) -> torch.Tensor:
    z = by_name["a"] + x.sum() * items[0] + x.shape[0]
    torch._dynamo.graph_break()
    return z + by_name["a"] + items[0]


def _codes(*, marks: bool) -> list[types.CodeType]:
    codes: list[types.CodeType] = []
    torch._dynamo.reset()
    handle = torch._dynamo.convert_frame.register_bytecode_hook(lambda _, new: codes.append(new))
    settings: dict[str, Any] = {"record_runtime_overhead": marks}
    try:
        with torch._dynamo.config.patch(settings):
            compiled = torch.compile(_breaking, backend="eager", dynamic=True)
            compiled(torch.ones(3), [torch.ones(3)], {"a": torch.ones(3)})
    finally:
        handle.remove()
    return codes


@needs_marks
def test_what_is_shown_is_what_torch_writes_without_marks() -> None:
    marked, plain = _codes(marks=True), _codes(marks=False)
    assert len(marked) == len(plain) == 2
    for with_marks, without in zip(marked, plain, strict=True):
        shown = without_marks(with_marks)
        assert instruction_count(shown) == instruction_count(without)
        text, wanted = (decompile_function(code, simplify=True) for code in (shown, without))
        assert "record_pregraph" not in text.source
        assert text.level is not Level.UNPROVEN
        assert _COUNTED.sub("", text.source) == _COUNTED.sub("", wanted.source)


@needs_marks
def test_code_without_marks_can_run() -> None:
    (first, _) = _codes(marks=True)
    assert first.co_code != without_marks(first).co_code
    assert first.co_consts is without_marks(first).co_consts


def test_code_that_torch_has_not_marked_stays_the_same() -> None:
    code = programs.straight.__code__
    assert without_marks(code) is code


def test_a_program_of_the_user_with_these_names_stays_the_same() -> None:
    def user(utils: Any, x: object) -> object:
        cm = utils.record_pregraph_bytecode_enter()
        utils.record_pregraph_bytecode_exit(cm)
        return x, cm

    assert without_marks(user.__code__) is user.__code__


@needs_marks
def test_code_that_runs_keeps_its_marks(tmp_path: Path) -> None:
    seen: list[types.CodeType] = []
    handle = torch._dynamo.convert_frame.register_bytecode_hook(lambda _, new: seen.append(new))
    try:
        with depyf.prepare_debug(tmp_path):
            torch.compile(programs.straight, backend="eager")(torch.ones(3))
    finally:
        handle.remove()
    assert "record_pregraph_bytecode_enter" in seen[0].co_names
    text = (tmp_path / "__transformed_code_0_for_straight.py").read_text(encoding="utf-8")
    assert "record_pregraph" not in text
