"""Edits of early returns, of draws and reports inside of modules, and of decorators; files that LibCST changes."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("libcst", reason="depyf[fix] installs it")

import libcst as cst

from depyf.fix.edit import RefusedError
from depyf.fix.edits.borders import below_decorators
from depyf.fix.edits.drawn_inside import drawn_inside
from depyf.fix.edits.early import returned_late
from depyf.fix.edits.reports import LEAF, OPERATOR, reported
from depyf.fix.told import patch_of_texts
from depyf.fix.trees import parsed
from depyf.fix.tries import last_error

HEAD = "import torch\nimport random\nimport numpy as np\nSEEN = []\n\n\ndef f(x, m):\n"


def test_an_early_return_is_chosen_at_the_end() -> None:
    text = f"{HEAD}    # none\n    if not m.any():\n        return x.sum()\n    x = x[m]\n    return x.mean()\n"
    assert returned_late(cst.parse_module(text), 9).code == (
        f"{HEAD}    # none\n    is_met = torch.logical_not(m.any())\n    early = x.sum()\n    x = x[m]\n"
        "    return torch.where(is_met, early, x.mean())\n"
    )


def test_a_report_after_an_early_return_is_of_the_other_case() -> None:
    text = f"{HEAD}    if m.any(): return x\n    if x.norm() > 1:\n        print(x)\n    return -x\n"
    edited = returned_late(cst.parse_module(text), 8).code
    condition = "torch.logical_and(torch.logical_not(is_met), x.norm() > 1)"
    assert f"    if {condition}:\n        print(x)\n" in edited
    moved = reported(cst.parse_module(text), 9)
    assert f"    report_9({condition}, x)\n" in returned_late(moved, 8).code


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("    if m.any():\n        return x\n    x.add_(1)\n    return x\n", "more than assign"),
        ("    if m.any():\n        return x\n    print(x)\n    return x\n", "more than assign"),
        ("    if m.any():\n        return x\n    y = SEEN.pop()\n    return y\n", "effect"),
        ("    if m.any():\n        return x\n    y = x[m].max()\n    return y\n", "may raise"),
        ("    if m.any():\n        return x\n    return torch.linalg.inv(x)\n", "may raise"),
        ("    if m.any():\n        return x\n    return x[m][0]\n", "item by its number"),
        ("    if m.any():\n        return x\n    return x * (1 / x.shape[1])\n", "item by its number"),
        ("    if m.any():\n        return x\n    return x * (1 / x.numel())\n", "by zero"),
        ("    if m.any():\n        return SEEN.pop()\n    return x\n", "effect"),
        ("    if m.any():\n        return x\n    y = x\n", "does not end"),
        ("    if m.any():\n        y = x\n    return y\n", "no early return"),
        ("    if m.any():\n        return\n    return x\n", "no early return"),
    ],
)
def test_an_early_return_with_another_rest_stays(rows: str, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        returned_late(cst.parse_module(HEAD + rows), 8)


def test_a_number_is_drawn_by_an_operator() -> None:
    edited = drawn_inside(cst.parse_module(f"{HEAD}    y = x * np.random.rand()\n    return y\n"), 8).code
    assert "    y = x * draw_8()\n    return y\n" in edited
    assert "def draw_8() -> torch.Tensor:\n    return torch.tensor(float(np.random.rand()))\n" in edited
    assert "def draw_8_fake():\n    return torch.empty(())\n" in edited
    assert edited.endswith("draw_8.register_effect(torch.library.EffectType.ORDERED)\n")


def test_a_branch_on_a_drawn_number_chooses() -> None:
    text = f"{HEAD}    if random.randint(0, 9) < m.p:\n        x = -x\n    return x\n"
    edited = drawn_inside(cst.parse_module(text), 8).code
    assert "    number_8 = draw_8()\n    x = torch.where(number_8 < m.p, -x, x)\n    return x\n" in edited
    assert "    return torch.empty((), dtype=torch.int64)\n" in edited


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("    y = x * random.uniform(0, m)\n    return y\n", "draws no number"),
        ("    y = x * 2\n    return y\n", "draws no number"),
        ("    if random.random() < 0.5:\n        SEEN.append(x)\n    return x\n", "append"),
    ],
)
def test_a_draw_that_an_operator_cannot_make_stays(rows: str, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        drawn_inside(cst.parse_module(HEAD + rows), 8)


MODULE = (
    "import torch\nSEEN = []\n\n\nclass M:\n    def __init__(self):\n        self.n = 3\n\n    def forward(self, x):\n"
)


@pytest.mark.parametrize(
    ("statement", "call", "definition"),
    [
        ("SEEN.append(str(x.item()))", "(x)", "(x: torch.Tensor) -> None:\n    SEEN.append(str(x.item()))"),
        ("print(self.name, self.n)", "(self.name, self.n)", "(name: str, n: int) -> None:\n    print(name, n)"),
        (
            "assert not x.any(), 'bad'",
            "(x.any())",
            "(condition: torch.Tensor) -> None:\n    assert not condition, 'bad'",
        ),
    ],
)
def test_a_report_of_a_module_is_an_operator(statement: str, call: str, definition: str) -> None:
    edited = reported(cst.parse_module(f"{MODULE}        {statement}\n"), 10, form=OPERATOR).code
    assert f"        report_10{call}\n" in edited
    assert f"def report_10{definition}\n" in edited


def test_a_report_by_an_object_of_a_module_gets_the_module() -> None:
    text = f"{MODULE}        self.bar.set_postfix(loss=x.item())\n"
    edited = reported(cst.parse_module(text), 10, form=LEAF, with_module=True).code
    assert "        report_10(self, x)\n" in edited
    assert "def report_10(module, x):\n    module.bar.set_postfix(loss=x.item())\n" in edited
    with pytest.raises(RefusedError, match="no attribute of `self`"):
        reported(cst.parse_module(f"{MODULE}        print(x)\n"), 10, form=LEAF, with_module=True)


def test_a_list_that_the_function_also_reads_is_no_report() -> None:
    text = f"{MODULE}        SEEN.append(x.item())\n        return x + len(SEEN)\n"
    with pytest.raises(RefusedError, match="only reports"):
        reported(cst.parse_module(text), 10, form=OPERATOR)


@pytest.mark.parametrize("call", ["fast = torch.compile(f, dynamic=True)", ""])
def test_a_function_is_compiled_below_its_decorators(call: str) -> None:
    above = "" if call else "@torch.compile(dynamic=True)\n"
    text = f"import torch\n\n\n{above}@timed\ndef f(x):\n    return x\n\n\n{call}\n"
    after = "fast = f" if call else ""
    decorators = "@timed\n@torch.compile(dynamic=True)\n"
    assert below_decorators(cst.parse_module(text)).code == (
        f"import torch\n\n\n{decorators}def f(x):\n    return x\n\n\n{after}\n"
    )


def test_a_function_without_decorators_is_not_moved() -> None:
    with pytest.raises(RefusedError, match="0 functions with decorators"):
        below_decorators(cst.parse_module("import torch\n\n\n@torch.compile\ndef f(x):\n    return x\n"))


@pytest.mark.parametrize("text", ["x = 1\n\x0cdef f():\n    return 1\n", "x = 1\ry = 2\r"])
def test_a_file_that_libcst_changes_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "user.py"
    file.write_bytes(text.encode())
    with pytest.raises(RefusedError, match="does not keep the text"):
        parsed(file)


@pytest.mark.parametrize("text", ["x = 1\r\ny = 2\r\n", "x = '\u2028'", "# é\n\n\ty = 1\n", "if 1:\n\tx = 1"])
def test_the_text_of_other_files_is_kept(tmp_path: Path, text: str) -> None:
    file = tmp_path / "user.py"
    file.write_bytes(text.encode())
    if text.startswith("# é"):
        with pytest.raises(RefusedError, match="cannot parse"):
            parsed(file)
    else:
        assert parsed(file).code == text


def test_a_patch_has_the_line_ends_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "user.py"
    file.write_bytes(b"a = 1\r\nb = '\x0c'\r\nc = 3")
    patch = patch_of_texts({str(file): "a = 2\r\nb = '\x0c'\r\nc = 3"}, tmp_path)
    assert patch == (
        "--- a/user.py\n+++ b/user.py\n@@ -1,3 +1,3 @@\n-a = 1\r\n+a = 2\r\n b = '\x0c'\r\n c = 3\n"
        "\\ No newline at end of file\n"
    )


@pytest.mark.parametrize(
    ("errors", "last"),
    [
        ("Traceback\n  f()\nRuntimeError: boom\n\nSet TORCHDYNAMO_VERBOSE=1 for more\n", "RuntimeError: boom"),
        ("torch._dynamo.exc.Unsupported: a call\n  Explanation: why\n", "Unsupported: a call"),
        ("torch._inductor.exc.InductorError: \n\nwhy it is\n", "InductorError: why it is"),
        ("exc.InductorError: AssertionError: \n\nSet TORCH_LOGS\n", "InductorError: AssertionError"),
        ("Segmentation fault\n", "Segmentation fault"),
        ("", ""),
    ],
)
def test_the_error_of_a_run_is_its_exception(errors: str, last: str) -> None:
    assert last_error(errors) == last
