"""Calls past the limit of entries: counted where Python offers a way, and told as not counted elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.findings import findings  # noqa: E402
from depyf.model.run import Unavailable  # noqa: E402
from depyf.torch.capture.eager_calls import EAGER_CALLS  # noqa: E402

monitored = pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="Python before 3.12 offers no way to count")


def times(x: Any, word: str) -> Any:
    return x * len(word)


def run(path: Path) -> Any:
    torch._dynamo.reset()
    with depyf.prepare_debug(path) as session:
        compiled = torch.compile(times, backend="eager")
        for number in range(20):
            compiled(torch.ones(2), "a" * number)
    if not any(finding.kind == "recompile-limit" for finding in findings(session)):
        pytest.skip("this torch does not report calls past the limit")
    return session


@monitored
def test_calls_past_the_limit_are_counted(tmp_path: Path) -> None:
    session = run(tmp_path)
    (function,) = session.functions.values()
    limit = torch._dynamo.config.recompile_limit
    assert function.eager_calls == 20 - limit
    assert findings(session)[0].cost.eager_calls == 20 - limit
    assert all(sys.monitoring.get_tool(number) is None for number in range(6))  # type: ignore[attr-defined]


@pytest.mark.skipif(hasattr(sys, "monitoring"), reason="this Python counts them")
def test_where_they_are_not_counted_the_report_says_so(tmp_path: Path) -> None:
    session = run(tmp_path)
    assert EAGER_CALLS in session.unavailable
    assert findings(session)[0].cost.eager_calls is None
    assert "calls of `times` ran eager" in findings(session)[0].cause


@monitored
def test_calls_of_a_frame_of_torchs_own_that_was_skipped_after_its_compile_began_are_counted(tmp_path: Path) -> None:
    torch._dynamo.reset()
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    weight.grad = torch.ones(2)
    step = torch.compile(lambda: optimizer.step(), backend="eager")
    with depyf.prepare_debug(tmp_path) as session:
        for _ in range(3):
            step()
    wrappers = [function for function in session.functions.values() if function.filename.endswith("optimizer.py")]
    without_code = [
        function
        for function in wrappers
        if all(isinstance(compiled.transformed, Unavailable) for compiled in function.compiles)
    ]
    assert all(wrapper.eager_calls == 3 for wrapper in without_code), [
        (wrapper.name, wrapper.eager_calls) for wrapper in without_code
    ]
    assert not any(filename.endswith("optimizer.py") for _, filename, _ in session.skipped)
