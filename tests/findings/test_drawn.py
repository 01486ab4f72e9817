"""Dynamo traces `numpy.random` as functions of torch, which draw other numbers than NumPy."""

from __future__ import annotations

from pathlib import Path

import pytest

import depyf
from depyf.findings import findings
from depyf.findings.drawn import KIND
from depyf.model.graph_facts import drawn_in

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")


def masked(x):
    mask = np.random.rand(8) < 0.5  # here
    return x * torch.from_numpy(mask.astype("float32"))


def other_numpy(x):
    return x * torch.from_numpy(np.sin(np.arange(8.0)))


def values_of(function) -> list[float]:
    np.random.seed(3)
    return function(torch.ones(8)).tolist()


@pytest.mark.parametrize("function", [masked, other_numpy])
def test_the_line_that_draws_has_a_finding(function, tmp_path: Path) -> None:
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(function, backend="eager")(torch.ones(8))
    drawn = [finding for finding in findings(session) if finding.kind == KIND]
    lines = [finding.where.line for finding in drawn]
    assert lines == ([masked.__code__.co_firstlineno + 1] if function is masked else [])


def test_the_seed_has_no_effect_and_the_advice_helps() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(masked, backend="eager")
    assert len({tuple(values_of(compiled)) for _ in range(8)}) > 1, "compiled code follows numpy.random.seed"
    torch._dynamo.reset()
    with torch._dynamo.config.patch(use_numpy_random_stream=True):
        compiled = torch.compile(masked, backend="eager")
        assert [values_of(compiled) for _ in range(3)] == [values_of(masked)] * 3


def test_only_random_functions_count() -> None:
    text = """
        # File: /t.py:4 in f, code: a = np.random.randn(3)
        a = torch__dynamo_utils_wrapped_randn(3)
        # File: /t.py:5 in f, code: b = np.sin(a)
        b = torch__dynamo_utils_wrapped_sin(a)
"""
    assert [(line.filename, line.line) for line in drawn_in(text)] == [("/t.py", 4)]
