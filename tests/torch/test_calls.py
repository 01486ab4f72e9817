"""Compiles of a function and of its resume function have the number of the call in which they began."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.model.index_reader import read_session  # noqa: E402
from depyf.torch.capture.active import HITS  # noqa: E402


def scaled(x: Any, first: str, last: str) -> Any:
    y = x + len(first)
    torch._dynamo.graph_break()
    return y * len(last)


def test_compiles_of_one_call_have_its_number(tmp_path: Path) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(scaled, backend="eager")
    with depyf.prepare_debug(tmp_path) as session:
        for first, last in (("a", "b"), ("a", "b"), ("aa", "b"), ("aa", "bb"), ("aaa", "bbb")):
            compiled(torch.ones(2), first, last)
    if HITS in session.unavailable:
        pytest.skip("this torch does not report runs of compiled code")
    calls = [[compiled.call for compiled in function.compiles] for function in session.functions.values()]
    assert calls == [[1, 3, 5], [1, 4, 5]]
    again = read_session(tmp_path)
    assert [[compiled.call for compiled in function.compiles] for function in again.functions.values()] == calls


@pytest.mark.parametrize(
    ("options", "is_static"), [({}, False), ({"dynamic": False}, True), ({"dynamic": True}, False)]
)
def test_a_compile_that_may_make_no_size_dynamic(tmp_path: Path, options: dict[str, bool], is_static: bool) -> None:
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path):
        torch.compile(lambda x: x + 1, backend="eager", **options)(torch.ones(2))
    (function,) = read_session(tmp_path).functions.values()
    assert [compiled.is_static for compiled in function.compiles] == [is_static]
