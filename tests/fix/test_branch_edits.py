"""Edits of branches that report, raise or change in place, of empty selections, and of borders and batches."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("libcst", reason="depyf[fix] installs it")

import libcst as cst

from depyf.fix.edit import RefusedError
from depyf.fix.edits.borders import outward
from depyf.fix.edits.drawn import drawn
from depyf.fix.edits.empty import without_check
from depyf.fix.edits.growing import grown_after
from depyf.fix.edits.guarded import guarded
from depyf.fix.edits.options import with_padding
from depyf.fix.edits.reports import LEAF, OPERATOR, reported

HEAD = "import torch\n\n\ndef f(self, x, total, grads, step):\n"


def in_function(*rows: str) -> cst.Module:
    """Return a module with rows as the body of a function; the first is at line 5."""
    return cst.parse_module(HEAD + "".join(f"    {row}\n" for row in rows) + "    return x\n")


@pytest.mark.parametrize(
    ("rows", "call", "definition"),
    [
        (
            ("if (x == 0).any():", '    print("zeros")'),
            "report_5((x == 0).any())",
            'def report_5(condition):\n    if condition:\n        print("zeros")\n',
        ),
        (
            ("if not torch.isfinite(x).all():", '    raise ValueError(f"bad {self.name}")'),
            "report_5(torch.isfinite(x).all(), self.name)",
            'def report_5(condition, name):\n    if not condition:\n        raise ValueError(f"bad {name}")\n',
        ),
        (
            ("if step is not None and (x < 0).any():", "    print(step)", "else:", "    pass"),
            "report_5(step, x)",
            "def report_5(step, x):\n    if step is not None and (x < 0).any():\n        print(step)\n"
            "    else:\n        pass\n",
        ),
        (
            ("if x.sum().item() > 1:", "    print(x)"),
            "report_5(x.sum() > 1, x)",
            "def report_5(condition, x):\n    if condition:\n        print(x)\n",
        ),
    ],
)
def test_a_branch_that_only_reports_or_raises_runs_after_the_graph(
    rows: tuple[str, ...], call: str, definition: str
) -> None:
    edited = reported(in_function(*rows), 5).code
    assert f"step):\n    {call}\n    return x\n" in edited
    assert f"@torch.compiler.disable\n{definition}" in edited
    compile(edited, "made", "exec")


METERS = """import torch

meters = {{"loss": AverageMeter()}}


def f(x):
    {statement}
    return x{use}
"""


@pytest.mark.parametrize(
    ("statement", "call", "body"),
    [
        ('meters["loss"].update(x.item(), 1)', "report_7(x)", "(x):\n    meters["),
        ("assert x.min() > 0, 'low'", "report_7(x.min() > 0)", "(condition):\n    assert condition, 'low'"),
        ('writer.add_scalar("loss", x.item())', "report_7(x)", "(x):\n    writer."),
    ],
)
def test_a_meter_a_writer_or_an_assertion_runs_after_the_graph(statement: str, call: str, body: str) -> None:
    text = METERS.format(statement=statement, use="").replace("meters =", "writer = SummaryWriter()\nmeters =")
    edited = reported(cst.parse_module(text.replace("\n\n\n", "\n\n")), 7).code
    assert f"    {call}\n    return x\n" in edited and f"def report_7{body}" in edited


@pytest.mark.parametrize(
    ("statement", "use"),
    [('meters["loss"].update(x)', ' * meters["loss"].mean'), ("x.update(1)", ""), ("meters.clear()", "")],
)
def test_an_object_that_the_function_reads_stays(statement: str, use: str) -> None:
    with pytest.raises(RefusedError):
        reported(cst.parse_module(METERS.format(statement=statement, use=use)), 7)


def test_a_report_becomes_a_leaf_function() -> None:
    edited = reported(in_function("print(x.sum())"), 5, form=LEAF).code
    assert "@torch._dynamo.decorators.leaf_function\ndef report_5(x):\n    print(x.sum())\n" in edited
    assert "@report_5.register_fake\ndef report_5_fake(x):\n    return None\n" in edited
    compile(edited, "made", "exec")


def test_a_report_becomes_an_operator_with_an_effect() -> None:
    rows = ("for i, y in enumerate(grads):", "    if y > 1:", "        print(i, y)")
    edited = reported(in_function(*rows), 6, form=OPERATOR).code
    head = '@torch.library.custom_op("reports::report_6", mutates_args=())\n'
    assert (
        f"{head}def report_6(condition: torch.Tensor, i: int, y: torch.Tensor) -> None:\n    if condition:\n" in edited
    )
    assert edited.endswith("report_6.register_effect(torch.library.EffectType.ORDERED)\n")


def test_torch_keeps_the_effects_of_an_operator_that_dynamo_inlines(capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    if not hasattr(torch.library, "EffectType"):
        pytest.skip("this torch has no operators with an effect")
    text = "import torch\ndef f(x):\n    if x.sum() > 0:\n        print('positive')\n    return x * 2\n"
    module: dict[str, Any] = {}
    exec(reported(cst.parse_module(text), 3, form=OPERATOR).code, module)
    torch._dynamo.reset()
    step = torch.compile(lambda x: module["f"](x) + 1, backend="aot_eager", fullgraph=True)
    for sign in (1, -1, 1):
        assert step(torch.ones(2) * sign)[0] == 2 * sign + 1
    assert capsys.readouterr().out == "positive\n" * 2


@pytest.mark.parametrize(
    ("rows", "after"),
    [
        (
            ("if total > 1:", "    coef = 1 / total", "    grads = [g * coef for g in grads]"),
            ("is_met = total > 1", "coef = 1 / total", "grads = [torch.where(is_met, g * coef, g) for g in grads]"),
        ),
        (
            ("if total > 1:", "    for g in grads:", "        g.mul_(0.5)"),
            ("is_met = total > 1", "for g in grads:", "    g.copy_(torch.where(is_met, g.mul(0.5), g))"),
        ),
        (
            ("if total > 1:", "    self.p.data = self.p.data / 2", "    x.zero_()", "    x += 1"),
            (
                "is_met = total > 1",
                "self.p.data.copy_(torch.where(is_met, self.p.data / 2, self.p.data))",
                "x.copy_(torch.where(is_met, torch.zeros_like(x), x))",
                "x = torch.where(is_met, x + 1, x)",
            ),
        ),
        (
            ("if total > 1:", "    print(total)", "    x = x / total"),
            ("report_5(total > 1, total)", "is_met = total > 1", "x = torch.where(is_met, x / total, x)"),
        ),
    ],
)
def test_each_value_of_a_branch_is_chosen(rows: tuple[str, ...], after: tuple[str, ...]) -> None:
    edited = guarded(in_function(*rows), 5).code
    assert HEAD + "".join(f"    {row}\n" for row in after) + "    return x\n" in edited
    compile(edited, "made", "exec")


@pytest.mark.parametrize(
    "rows",
    [
        ("if total > 1:", "    x = x + 1", "else:", "    x = x - 1"),
        ("if total > 1:", "    self.count += 1"),
        ("if total > 1:", "    self.scale = 2"),
        ("if total > 1:", "    x = x + 1", "    print(x)"),
        ("if total > 1:", "    x.resize_(3)"),
        ("if total > 1:", "    for g in grads:", "        print(g)"),
        ("if total > 1:", "    x = read(x)"),
        ("if read(total) > 1:", "    x = x + 1"),
    ],
)
def test_a_branch_that_does_more_stays(rows: tuple[str, ...]) -> None:
    with pytest.raises(RefusedError):
        guarded(in_function(*rows), 5)


DRAWS = """import random
import torch


def act(x, eps, low=0):
    if random.random() < eps:
        x = -x
    return x + random.randint(low, 3)


select = torch.compile(act)
for e in rates:
    select(x, {argument})
"""


def test_a_comparison_with_a_drawn_number_is_made_in_the_call() -> None:
    edited = drawn(cst.parse_module(DRAWS.format(argument="e")), 6).code
    assert "        drawn_6 = random.random() < eps\n    if drawn_6:\n" in edited
    assert "    select(x, e, drawn_6=random.random() < e)\n" in edited
    edited = drawn(cst.parse_module(DRAWS.format(argument="eps=e")), 8).code
    assert "    select(x, eps=e, drawn_8=torch.tensor(random.randint(0, 3)))\n" in edited
    with pytest.raises(RefusedError, match="more than a name"):
        drawn(cst.parse_module(DRAWS.format(argument="next(e)")), 6)


def test_numbers_of_numpy_and_times_keep_their_values() -> None:
    text = "import time\nimport torch\nimport numpy as np\n@torch.compile\ndef f(x):\n    return x * {}\nf(x)\n"
    edited = drawn(cst.parse_module(text.format("np.random.beta(1, 2)")), 6).code
    assert "f(x, drawn_6=torch.tensor(float(np.random.beta(1, 2))))" in edited
    edited = drawn(cst.parse_module(text.format("time.time()")), 6).code
    assert "f(x, drawn_6=torch.tensor(time.time(), dtype=torch.float64))" in edited


EXPERTS = """for index, expert in enumerate(experts):
    token, slot = torch.where(chosen == index)
    if {check}:
        continue
    {row}
"""


@pytest.mark.parametrize(
    "check", ["token.numel() == 0", "len(token) == 0", "token.shape[0] == 0", "token.size(0) == 0"]
)
@pytest.mark.parametrize("row", ["out[token] += expert(x[token])", "out[:, token] = 1", "out.index_add_(0, token, y)"])
def test_the_check_for_an_empty_selection_goes(check: str, row: str) -> None:
    text = EXPERTS.format(check=check, row=row)
    assert without_check(cst.parse_module(text), 2).code == text.replace(f"    if {check}:\n        continue\n", "")


@pytest.mark.parametrize(
    ("check", "row"),
    [
        ("token.numel() == 1", "out[token] += y"),
        ("token.numel() == 0", "count += 1"),
        ("token.numel() == 0", "out[other] += y"),
        ("token.numel() == 0", "out[token] += y; seen.append(index)"),
    ],
)
def test_a_check_with_an_effect_stays(check: str, row: str) -> None:
    with pytest.raises(RefusedError):
        without_check(cst.parse_module(EXPERTS.format(check=check, row=row)), 2)


def test_a_dict_of_lists_grows_with_numbers() -> None:
    text = 'import torch\nSEEN = {"loss": []}\n\n\ndef f(x):\n    SEEN["loss"].append(x.mean().item())\n    return x\n'
    edited = grown_after(cst.parse_module(text), 6).code
    assert "    keep_6(x.mean())\n" in edited
    assert 'def keep_6(value_0):\n    SEEN["loss"].append(value_0.item())\n' in edited


def test_a_list_of_a_module_grows_in_a_leaf_function() -> None:
    edited = grown_after(in_function("self.maps.append(x.mean().item())"), 5).code
    assert "    keep_5(self, x.mean())\n" in edited
    leaf = "@torch._dynamo.decorators.leaf_function\ndef keep_5(module, value_0):\n"
    assert f"{leaf}    module.maps.append(value_0.item())\n" in edited
    assert edited.endswith("@keep_5.register_fake\ndef keep_5_fake(module, value_0):\n    return None\n")
    with pytest.raises(RefusedError, match="reads it"):
        grown_after(in_function("self.maps.append(x)", "x = x + len(self.maps)"), 5)


STEPS = """import torch


@torch.compile(backend="eager")
def step(x, t):
    return x * t


def sample(x):
    for t in range(9):
        x = step(x, t)
    return x
"""


def test_the_border_moves_outward() -> None:
    edited = outward(cst.parse_module(STEPS), 11).code
    decorator = '@torch.compile(backend="eager")\n'
    assert edited == STEPS.replace(decorator, "").replace("def sample", f"{decorator}def sample")
    named = STEPS.replace(decorator, "") + '\n\nstep_fast = torch.compile(step, backend="eager")\n'
    edited = outward(cst.parse_module(named.replace("x = step(", "x = step_fast(")), 10).code
    assert f"{decorator}def sample" in edited and "step_fast = step\n" in edited


@pytest.mark.parametrize(
    "text",
    [
        STEPS.replace("    for t in range(9):\n        x = step(x, t)", "    if x:\n        x = step(x, 1)"),
        STEPS.replace("range(9)", "torch.compile(range)(9)"),
        STEPS.replace('@torch.compile(backend="eager")', "@wrapped"),
    ],
)
def test_the_border_stays_without_a_loop_around_it(text: str) -> None:
    with pytest.raises(RefusedError):
        outward(cst.parse_module(text), 11)


def test_a_smaller_batch_is_padded() -> None:
    edited = with_padding(cst.parse_module("for b in loader:\n    y = step(b)\n"), 2, (0, "x"), 4).code
    assert edited.splitlines()[1] == "    b = torch.cat([b, b.new_zeros(4 - len(b), *b.shape[1:])])"
    with pytest.raises(RefusedError, match="plain name"):
        with_padding(cst.parse_module("y = step(b + 1)\n"), 1, (0, "x"), 4)
