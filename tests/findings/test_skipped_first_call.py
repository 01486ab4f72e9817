"""Dynamo skips a function for good if its first call has no operations."""

from __future__ import annotations

from pathlib import Path

import pytest

import depyf
from depyf.findings import findings
from depyf.model.run import Transformed

torch = pytest.importorskip("torch")
KIND = "skipped-first-call"


def chosen(x, draws):
    for number in draws:
        if number > 0.5:
            x = torch.sin(x)
    return x


def plain(x, draws):
    return draws


def told(function, calls, path: Path):
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="eager")
    with depyf.prepare_debug(path) as session:
        for draws in calls:
            compiled(torch.ones(2), draws)
    return [finding for finding in findings(session) if finding.kind == KIND], session


def test_a_first_call_without_operations_is_the_cause(tmp_path: Path) -> None:
    (finding,), session = told(chosen, [(0.1, 0.2), (0.7, 0.8), (0.9, 0.1)], tmp_path)
    assert finding.where.line == chosen.__code__.co_firstlineno and "chosen" in finding.cause
    assert not any(isinstance(compiled.transformed, Transformed) for _, compiled in session.compiles()), (
        "later calls compile"
    )


@pytest.mark.parametrize(
    ("function", "calls"),
    [(chosen, [(0.7, 0.8), (0.1, 0.2)]), (plain, [(0.1, 0.2), (0.7, 0.8)])],
)
def test_other_functions_have_no_such_finding(function, calls, tmp_path: Path) -> None:
    assert told(function, calls, tmp_path)[0] == []


def test_the_advice_compiles_all_calls() -> None:
    @torch.compile(backend="eager", fullgraph=True)
    def always(x, draws):
        for number in draws:
            x = torch.where(number > 0.5, torch.sin(x), x)
        return x

    for draws in ((0.1, 0.2), (0.7, 0.8)):
        expected = chosen(torch.ones(2), draws)
        assert torch.equal(always(torch.ones(2), torch.tensor(draws)), expected)


def broken(x, draws):
    x = torch.sin(x)
    torch._dynamo.graph_break()
    if draws[0] > 0.5:
        x = torch.cos(x)
    return x


def test_the_rest_of_a_function_after_a_break_is_skipped_too(tmp_path: Path) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(broken, backend="eager")
    with depyf.prepare_debug(tmp_path) as session:
        for draws in ((0.1,), (0.7,)):
            compiled(torch.ones(2), draws)
    (rest,) = (finding for finding in findings(session) if finding.kind == "skipped")
    assert rest.severity == "low" and "first call had no operation for a graph" in rest.cause
    assert rest.where.line == broken.__code__.co_firstlineno + 2
