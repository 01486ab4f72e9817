"""Advice by what the statement at a break does: a check, a report, a bound of a slice, or a choice of values."""

from __future__ import annotations

import inspect
import logging
import random
import warnings
from pathlib import Path

import pytest

import depyf
from depyf.findings import findings
from depyf.findings.by_source import (
    ARGUMENT,
    CHECK,
    DRAW,
    LATER,
    NUMBER,
    NUMBERS,
    OUTSIDE,
    REPORT,
    SEED,
    SLICE,
    TO_ITS_END,
    WRITE,
    advice_by_source,
)
from depyf.model.run import Function
from depyf.model.user_line import UserLine

torch = pytest.importorskip("torch")


logger = logging.getLogger("model")


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


def logged(x):
    logger.debug("%.3f", x.sum().item())
    return x + 1


def cut(x):
    longest = x.abs().argmax().item()
    y = x[:longest]
    return y.sum() + 1


def cut_by_tensor(x):
    return x[: x.abs().argmax() + 1].sum() + 1


def scaled(x):
    return x * x.sum().item()


def cut_and_scaled(x):
    return x[1:] * float(x.sum())


def looped(x):
    for number in range(2):
        x = x[number:] * x.sum().item()
    return x


def inner_number(x):
    n = x.sum().item()
    return x * n


def other_with_a_slice(x, n):
    return x[:n]


def written(x):
    start = x.abs().argmax().item()
    x[start : start + 1] = 0
    return x + 1


def outer_number(x):
    return inner_number(x + 1) + 1


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


def ended_early(x):
    for _ in range(3):
        x = x * 2
        if x.sum() > 10:
            break
    return x + 1


def collected(x):
    kept = []
    if x.sum() > 0:
        kept.append(x)
    return x + len(kept)


def made_by_size(x):
    size = int(x.sum()) + 1
    return x.new_zeros(size).sum() + x


def made_and_clamped(x):
    most = x.max().item()
    return torch.clamp(x, max=most) + 1


WEIGHTS = {0: 0.5, 1: 1.0, 2: 2.0}
MODULES = [torch.sin, torch.cos]


def picked(x):
    return x * WEIGHTS[int(x.argmax())]


def picked_function(x):
    return MODULES[x.argmax().item() % 2](x)


def dropped(x):
    if random.random() < 0.5:
        x = x * 2
    return x + 1


def scattered(x):
    return x * random.random()


def seeded(x):
    random.seed(0)
    return x + 1


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (ended_early, TO_ITS_END),
        (collected, OUTSIDE),
        (made_by_size, NUMBER),
        (made_and_clamped, "keep the number as a tensor"),
        (picked, "put the values of `WEIGHTS` into one tensor"),
        (picked_function, "keep the number as a tensor"),
        (checked, CHECK),
        (outer, CHECK),
        (reported, REPORT),
        (chosen, "torch.where"),
        (counted, "torch.where"),
        (logged, REPORT),
        (cut, SLICE),
        (cut_by_tensor, SLICE),
        (written, WRITE),
        (scaled, "keep the number as a tensor"),
        (cut_and_scaled, "keep the number as a tensor"),
        (looped, "keep the number as a tensor"),
        (outer_number, "keep the number as a tensor"),
    ],
)
def test_the_advice_fits_the_arms(function, words: str, tmp_path: Path) -> None:
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(function, backend="eager")(torch.ones(3))
    kinds = ("break-data-dependent-branch", "break-item")
    (finding, *_) = (finding for finding in findings(session) if finding.kind in kinds)
    assert words in finding.fix


def in_loop(x):
    for number in x.to(torch.int64).tolist():
        x = x[number:]
    return x


def handed_on(x):
    return x * len(tuple(x.tolist()))


def multiplied(x):
    values = x.tolist()
    return x * values[0]


def listed(x):
    values = (x * 2).tolist()
    return x, values


def printed(x):
    x = x + 1
    print("mean", x.mean().item())
    return x * 2


@pytest.mark.parametrize(
    ("function", "words"),
    [(in_loop, NUMBERS), (handed_on, NUMBERS.partition("; or")[0]), (multiplied, "index the tensor"), (listed, LATER)],
)
def test_numbers_of_a_list_are_indexed_only_where_no_loop_or_call_needs_them(
    function, words: str, tmp_path: Path
) -> None:
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(function, backend="eager")(torch.ones(3))
    (finding, *_) = (each for each in findings(session) if each.kind == "break-tolist")
    assert words in finding.fix


def test_the_breaks_of_a_report_are_one_finding(tmp_path: Path) -> None:
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(printed, backend="eager")(torch.ones(3))
    found = findings(session)
    assert [finding.kind for finding in found] == ["break-item"], [finding.cause for finding in found]
    (finding,) = found
    assert finding.cause.endswith("takes a number out of a tensor, and `print` is called") and finding.fix == REPORT


def test_the_advice_for_a_check_can_be_followed() -> None:
    @torch.compile(fullgraph=True, backend="eager")
    def step(x):
        loss = x.exp().sum()
        torch._assert_async(~torch.isnan(loss), "the loss is not a number")
        return loss * 2

    assert step(torch.zeros(3)).item() == 6
    with pytest.raises(RuntimeError, match="not a number"):
        step(torch.full((3,), float("nan")))


def test_the_advice_for_a_bound_can_be_followed() -> None:
    x = torch.tensor([1.0, -5.0, 2.0])

    @torch.compile(fullgraph=True, backend="eager")
    def masked(x):
        longest = x.abs().argmax()
        return torch.where(torch.arange(3) < longest, x, 0).sum() + 1

    assert masked(x) == cut(x)
    torch._dynamo.reset()
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        assert torch.compile(cut, fullgraph=True, backend="eager")(x) == cut(x)


@pytest.mark.parametrize(("function", "words"), [(dropped, DRAW), (scattered, ARGUMENT), (seeded, SEED)])
def test_a_number_that_python_draws_is_passed_as_a_tensor(function, words: str) -> None:
    code = function.__code__
    text = inspect.getsource(function)
    drawing = Function("0", code.co_name, __file__, code.co_firstlineno, text, "0")
    line = UserLine(__file__, code.co_firstlineno + 1, text.splitlines()[1].strip(), code.co_name)
    assert advice_by_source("break-random", drawing, line) == words
