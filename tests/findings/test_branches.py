"""A branch on a tensor whose arm raises or reports has no second value to choose."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import depyf
from depyf.findings import findings
from depyf.findings.branches import CHECK, REPORT

torch = pytest.importorskip("torch")


def checked(x):
    loss = x.exp().sum()
    if torch.isnan(loss):
        raise ValueError("the loss is not a number")
    return loss * 2


def reported(x):
    loss = x.exp().sum()
    if torch.isnan(loss):
        warnings.warn("the loss is not a number", stacklevel=2)
    return loss * 2


def outer(x):
    return checked(x + 1) + 1


def chosen(x):
    if x.sum() > 0:
        x = x * 2
    return x + 1


def counted(x):
    if x.sum() > 0:
        print("large")
        x = x * 2
    return x + 1


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (checked, CHECK),
        (outer, CHECK),
        (reported, REPORT),
        (chosen, "torch.where"),
        (counted, "torch.where"),
    ],
)
def test_the_advice_fits_the_arms(function, words: str, tmp_path: Path) -> None:
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(function, backend="eager")(torch.ones(3))
    (finding,) = (each for each in findings(session) if each.kind == "break-data-dependent-branch")
    assert words in finding.fix


def test_the_advice_for_a_check_can_be_followed() -> None:
    @torch.compile(fullgraph=True, backend="eager")
    def step(x):
        loss = x.exp().sum()
        torch._assert_async(~torch.isnan(loss), "the loss is not a number")
        return loss * 2

    assert step(torch.zeros(3)).item() == 6
    with pytest.raises(RuntimeError, match="not a number"):
        step(torch.full((3,), float("nan")))
