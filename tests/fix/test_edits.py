"""Each edit changes its lines, keeps all others, and refuses what it must not change."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("libcst", reason="depyf[fix] installs it")

import libcst as cst

from depyf.fix.edit import RefusedError
from depyf.fix.edits.branches import chosen
from depyf.fix.edits.marks import _Dynamic, _NotStatic, arguments_of
from depyf.fix.trees import after_import_of_torch, replace_statement, statement


def edited_branch(text: str, line: int = 1) -> str:
    return str(replace_statement(cst.parse_module(text), line, chosen).code)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if x.sum() > 0:\n    y = x + 1\nelse:\n    y = x - 1\n", "y = torch.where(x.sum() > 0, x + 1, x - 1)\n"),
        ("# why\nif x.any():\n    x = x / 2\n", "# why\nx = torch.where(x.any(), x / 2, x)\n"),
        ("if not ok:\n    y += a - b\n", "y = torch.where(torch.logical_not(ok), y + (a - b), y)\n"),
        ("if m: y = f.relu(x)\nelse: y = x\n", "y = torch.where(m, f.relu(x), x)\n"),
        ("if x.max().item() > 1:\n    x = x / 2\n", "x = torch.where(x.max() > 1, x / 2, x)\n"),
        (
            "if c:\n    y = 1\nelif d:\n    y = a\nelse:\n    y = b\n",
            "y = torch.where(c, 1, torch.where(d, a, b))\n",
        ),
        (
            "if c:\n    return a\nelif d:\n    return b\nelse:\n    return x\n",
            "return torch.where(c, a, torch.where(d, b, x))\n",
        ),
        ("if c:\n    y = 1\n    z = a\n", "y = torch.where(c, 1, y)\nz = torch.where(c, a, z)\n"),
    ],
)
def test_a_branch_becomes_a_choice(before: str, after: str) -> None:
    assert (
        edited_branch(before, before.split("\n").index(next(r for r in before.split("\n") if r[:2] == "if")) + 1)
        == after
    )


def test_a_break_at_an_elif_changes_the_whole_branch() -> None:
    text = "if c:\n    y = a\nelif d:\n    y = b\nelse:\n    y = x\n"
    assert edited_branch(text, 3) == "y = torch.where(c, a, torch.where(d, b, x))\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("if c:\n    y = 1\n    z = y\n", "reads another name"),
        ("if c:\n    y = 1\n    y = 2\n", "twice"),
        ("if c:\n    y = x.max().item()\n", "`x.max.*item`"),
        ("if c:\n    y = 1\nelse:\n    z = 2\n", "different names"),
        ("if c:\n    self.y = x\n", "something else than one name"),
        ("if c and d:\n    y = x\n", "more than two comparisons"),
        ("if c:\n    y = seen.pop()\n", "`seen.pop`"),
        ("if c:\n    y = x.add_(1)\n", "`x.add_`"),
        ("if c:\n    y = load()\n", "`load`"),
        ("if c:\n    y = x if d else z\n", "more than operations"),
        ("if c:\n    return x\n", "more than assignments"),
        ("while c:\n    y = x\n", "no statement"),
    ],
)
def test_a_branch_that_may_have_an_effect_is_refused(text: str, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        edited_branch(text)


def test_a_statement_comes_after_the_imports() -> None:
    text = '"""Doc."""\nimport os\nimport torch\nfrom torch import nn\n\nx = 1\n'
    edited = after_import_of_torch(cst.parse_module(text), "torch.a = True").code
    assert edited == text.replace("import nn\n", "import nn\ntorch.a = True\n")
    with pytest.raises(RefusedError, match="already there"):
        after_import_of_torch(cst.parse_module(edited), "torch.a = True")
    with pytest.raises(RefusedError, match="no `import torch`"):
        after_import_of_torch(cst.parse_module("import torch as t\n"), "torch.a = True")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("loss = step(batch)", ["batch"]),
        ("loss = step(batch, mask)", ["batch"]),
        ("loss = step(mask=m, x=batch)", ["batch"]),
        ("loss = step(torch.randn(n))", []),
        ("loss = torch.sum(batch)", []),
        ("loss = step(*batches)", []),
    ],
)
def test_only_a_plain_name_is_marked(text: str, names: list[str]) -> None:
    assert arguments_of(statement(text), 0, "x") == names


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f = torch.compile(g)\n", "f = torch.compile(g, dynamic=True)\n"),
        ("@torch.compile\ndef f(x): pass\n", "@torch.compile(dynamic=True)\ndef f(x): pass\n"),
        ("f = torch.compile(g, dynamic=False)\n", "f = torch.compile(g, dynamic=False)\n"),
    ],
)
def test_compile_gets_dynamic_once(before: str, after: str) -> None:
    assert cst.parse_module(before).visit(_Dynamic()).code == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f = torch.compile(g, dynamic=False)\n", "f = torch.compile(g)\n"),
        ("@torch.compile(dynamic=False, mode=m)\ndef f(x): pass\n", "@torch.compile(mode=m)\ndef f(x): pass\n"),
        ("f = torch.compile(g, dynamic=True)\n", "f = torch.compile(g, dynamic=True)\n"),
        ("f = other(g, dynamic=False)\n", "f = other(g, dynamic=False)\n"),
    ],
)
def test_a_program_no_longer_forbids_dynamic_sizes(before: str, after: str) -> None:
    assert cst.parse_module(before).visit(_NotStatic()).code == after
