"""Edits of arguments, of growing lists, of drawn numbers, of options, and of the border of `torch.compile`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("libcst", reason="depyf[fix] installs it")

import libcst as cst

from depyf.fix.edit import RefusedError
from depyf.fix.edits.arguments import cloned, given_as
from depyf.fix.edits.borders import inward
from depyf.fix.edits.drawn import drawn
from depyf.fix.edits.growing import grown_after
from depyf.fix.edits.options import with_dropped_batch, with_static_cache, with_tensor_rate
from depyf.fix.trees import replace_statement


@pytest.mark.parametrize(
    ("before", "form", "after"),
    [
        ("y = step(x, s)\n", "torch.tensor({})", "y = step(x, torch.tensor(s))\n"),
        ("print(step(x, scale=0.5 * n))\n", "torch.tensor({})", "print(step(x, scale=torch.tensor(0.5 * n)))\n"),
        ("step(x, a.t())\n", "{}.contiguous()", "step(x, a.t().contiguous())\n"),
        ("step(x, a + b)\n", "{}.contiguous()", "step(x, (a + b).contiguous())\n"),
    ],
)
def test_an_argument_gets_another_form(before: str, form: str, after: str) -> None:
    assert replace_statement(cst.parse_module(before), 1, given_as(1, "scale", form)).code == after


@pytest.mark.parametrize("text", ["step(*a)\n", "step(x, 3)\n", "step(x, torch.tensor(s))\n", "f(x, a); g(x, b)\n"])
def test_an_argument_that_has_the_form_or_is_not_there_stays(text: str) -> None:
    with pytest.raises(RefusedError):
        replace_statement(cst.parse_module(text), 1, given_as(1, "scale", "torch.tensor({})"))


@pytest.mark.parametrize("mark", ["", "torch._dynamo.mark_dynamic(ids, 1)\n"])
def test_an_argument_is_cloned_before_the_call_and_its_mark(mark: str) -> None:
    edited = replace_statement(cst.parse_module(f"{mark}ids = step(model, ids)\n"), 1, cloned(1, "ids"))
    assert edited.code == f"ids = ids.clone()\n{mark}ids = step(model, ids)\n"
    with pytest.raises(RefusedError):
        replace_statement(cst.parse_module("ids = step(model, ids[0])\n"), 1, cloned(1, "ids"))


HEAD = "import torch\nSEEN = []\n\n\ndef f(x, k):\n"


@pytest.mark.parametrize(
    ("statement", "call", "body"),
    [
        ("SEEN.append(x.mean())", "keep_6(x.mean())", "(value_0):\n    SEEN.append(value_0)"),
        ("SEEN[k] = x * 2", "keep_6(k, x * 2)", "(value_0, value_1):\n    SEEN[value_0] = value_1"),
    ],
)
def test_a_list_grows_after_the_graph(statement: str, call: str, body: str) -> None:
    edited = grown_after(cst.parse_module(f"{HEAD}    {statement}\n    return x\n"), 6).code
    assert f"    {call}\n    return x\n" in edited
    assert f"def keep_6{body}\n" in edited
    assert edited.endswith("torch._dynamo.config.reorderable_logging_functions.add(keep_6)\n")
    compile(edited, "made", "exec")


def test_all_growths_of_a_dict_move_at_once() -> None:
    edited = grown_after(cst.parse_module(HEAD + '    SEEN["a"] = x\n    SEEN["b"] = k\n    return x\n'), 6).code
    assert '    keep_6("a", x)\n    keep_7("b", k)\n    return x\n' in edited
    assert edited.count("reorderable_logging_functions") == 2
    compile(edited, "made", "exec")


@pytest.mark.parametrize(
    "body",
    [
        "    x.append(1)\n",
        "    SEEN.append(x)\n    return len(SEEN)\n",
        "    SEEN.extend(x)\n",
        "    y = SEEN.append(x)\n",
        "    SEEN[0], y = x, x\n",
    ],
)
def test_a_list_that_is_read_or_of_another_place_stays(body: str) -> None:
    with pytest.raises(RefusedError):
        grown_after(cst.parse_module(HEAD + body), 6)


DRAWS = """import random
import torch


def f(x, n=1):
    y = x * {expression}
    return y


step = torch.compile(f, backend="eager")
for x in xs:
    step(x)
print(f(x))
"""


def test_a_number_is_drawn_in_the_call() -> None:
    edited = drawn(cst.parse_module(DRAWS.format(expression="random.uniform(0, 1)")), 6).code
    assert "def f(x, n=1, drawn_6=None):\n    if drawn_6 is None:\n        drawn_6 = random.uniform(0, 1)\n" in edited
    assert "    y = x * drawn_6\n" in edited
    assert "    step(x, drawn_6=torch.tensor(random.uniform(0, 1)))\nprint(f(x))\n" in edited


@pytest.mark.parametrize(
    "text",
    [
        DRAWS.format(expression="random.uniform(0, y)"),
        DRAWS.format(expression="math.sin(1)"),
        DRAWS.format(expression="random.random()") + "other(step)\n",
        DRAWS.format(expression="random.random()").replace("torch.compile(f, ", "torch.compile(g(f), "),
        DRAWS.format(expression="random.random()").replace("n=1", "**n"),
    ],
)
def test_a_number_that_depends_on_the_function_stays(text: str) -> None:
    with pytest.raises(RefusedError):
        drawn(cst.parse_module(text), 6)


def test_a_number_in_a_branch_stays() -> None:
    text = DRAWS.format(expression="1").replace(
        "    return y\n", "    if n:\n        y = random.random()\n    return y\n"
    )
    with pytest.raises(RefusedError, match="unconditional"):
        drawn(cst.parse_module(text), 8)


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        (with_tensor_rate, "o = torch.optim.SGD(p, lr=0.1)\n", "o = torch.optim.SGD(p, lr=torch.tensor(0.1))\n"),
        (with_tensor_rate, "o = AdamW(p, lr=rate)\n", "o = AdamW(p, lr=torch.tensor(rate))\n"),
        (with_static_cache, "m.generate(x)\n", 'm.generate(x, cache_implementation="static")\n'),
        (with_dropped_batch, "d = DataLoader(s, 4)\n", "d = DataLoader(s, 4, drop_last=True)\n"),
    ],
)
def test_an_option_is_given(change: Callable[[cst.Module], cst.Module], before: str, after: str) -> None:
    assert change(cst.parse_module(before)).code == after
    with pytest.raises(RefusedError):
        change(cst.parse_module(after))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (with_tensor_rate, "o = SGD(p, 0.1)\n"),
        (with_tensor_rate, "o = make(p, lr=0.1)\n"),
        (with_static_cache, "m.generate(x, **more)\n"),
        (with_static_cache, "generate(x)\n"),
        (with_dropped_batch, "d = DataLoader(s, batch_sampler=b)\n"),
    ],
)
def test_an_option_of_another_call_is_not_given(change: Callable[[cst.Module], cst.Module], text: str) -> None:
    with pytest.raises(RefusedError):
        change(cst.parse_module(text))


LOOP = """import torch


def block(x):
    return x / 2


{decorator}def solve(x):
    while x.norm() > 1:
        x = {call}(x)
    return x


{compiled}print(step(x))
"""


@pytest.mark.parametrize(
    ("decorator", "compiled", "above"),
    [
        ("@torch.compile\n", "step = solve\n", "@torch.compile\n"),
        ('@torch.compile(backend="eager")\n', "step = solve\n", '@torch.compile(backend="eager")\n'),
        ("", 'step = torch.compile(solve, backend="eager")\n', '@torch.compile(backend="eager")\n'),
    ],
)
def test_the_border_moves_inward(decorator: str, compiled: str, above: str) -> None:
    line = 9 + decorator.count("\n")
    edited = inward(cst.parse_module(LOOP.format(decorator=decorator, compiled=compiled, call="block")), line).code
    assert f"\n\n{above}def block(x):\n" in edited
    assert "\n\ndef solve(x):\n" in edited
    assert "\n\nstep = solve\nprint" in edited


@pytest.mark.parametrize(
    ("decorator", "call"), [("", "block"), ("@torch.compile\n", "x.half"), ("@torch.compile\n", "other")]
)
def test_the_border_stays_without_a_block(decorator: str, call: str) -> None:
    with pytest.raises(RefusedError):
        inward(cst.parse_module(LOOP.format(decorator=decorator, compiled="step = solve\n", call=call)), 10)
