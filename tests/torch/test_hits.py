"""How often each entry served a call, where torch says which compiled code runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.model.run import Unavailable  # noqa: E402
from depyf.torch.adapters.runs import watch_runs  # noqa: E402


@pytest.fixture(autouse=True)
def _watched() -> Iterator[None]:
    torch._dynamo.reset()
    end = watch_runs(lambda code: None)
    if isinstance(end, Unavailable):
        pytest.skip(end.reason)
    end()
    yield


def breaking(x, n):
    y = x + n
    if y.sum() > 0:
        return y * 2
    return y * 3


def entries(directory: Path) -> dict[str, Any]:
    functions = json.loads((directory / "index.json").read_text(encoding="utf-8"))["functions"]
    every = [nested for function in functions for nested in (function, *function["resume_functions"])]
    return {
        f"{function['name'][:5]} {compiled['id']}": compiled["hits"]
        for function in every
        for compiled in function["compiles"]
    }


def test_every_call_that_an_entry_serves_is_counted(tmp_path: Path) -> None:
    compiled = torch.compile(breaking, backend="eager")
    before = torch._dynamo.utils.counters["frames"]["total"]
    with depyf.prepare_debug(tmp_path):
        for _ in range(5):
            compiled(torch.ones(3), 1)
        for _ in range(3):
            compiled(torch.ones(3), -4)
    assert entries(tmp_path) == {"break 0/0": 5, "break 0/1": 3, "torch 1/0": 5, "torch 2/0": 3}
    assert torch._dynamo.utils.counters["frames"]["total"] - before == 4, "nothing of depyf's was compiled"
    for _ in range(2):
        compiled(torch.ones(3), 1)
    assert entries(tmp_path)["break 0/0"] == 5


def test_what_was_compiled_before_is_told(tmp_path: Path) -> None:
    compiled = torch.compile(breaking, backend="eager")
    compiled(torch.ones(3), 1)
    with depyf.prepare_debug(tmp_path):
        compiled(torch.ones(3), 1)
        compiled(torch.ones(3), 1)
    earlier = json.loads((tmp_path / "index.json").read_text(encoding="utf-8"))["compiled_before"]
    assert [(function["name"].split("_at_")[0], function["hits"]) for function in earlier] == [
        ("breaking", 2),
        ("torch_dynamo_resume_in_breaking", 2),
    ]
    page = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "## Compiled before the context was entered" in page
    assert "torch.compiler.reset()" in page


def test_code_of_an_outer_context_is_its_own(tmp_path: Path) -> None:
    compiled = torch.compile(breaking, backend="eager")
    with depyf.prepare_debug(tmp_path / "outer"):
        compiled(torch.ones(3), 1)
        with depyf.prepare_debug(tmp_path / "inner"):
            compiled(torch.ones(3), 1)
    assert entries(tmp_path / "outer")["break 0/0"] == 2
    inner = json.loads((tmp_path / "inner" / "index.json").read_text(encoding="utf-8"))
    assert inner["compiled_before"] == []


def test_who_listened_before_goes_on(tmp_path: Path) -> None:
    from torch._C._dynamo.eval_frame import get_bytecode_debugger_callback, set_bytecode_debugger_callback

    heard: list[str] = []

    def listener(code):
        heard.append(code.co_name)

    compiled = torch.compile(breaking, backend="eager")
    compiled(torch.ones(3), 1)
    set_bytecode_debugger_callback(listener)
    try:
        with depyf.prepare_debug(tmp_path):
            compiled(torch.ones(3), 1)
        assert get_bytecode_debugger_callback() is listener
    finally:
        set_bytecode_debugger_callback(None)
    assert heard[0] == "breaking"
