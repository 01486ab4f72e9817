"""Without triton, what needs it says so in one line."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from depyf.links.inductor.graph import read_graph  # noqa: E402 - after the check that torch is there
from depyf.links.inductor.lines import launched  # noqa: E402
from depyf.links.inductor.module import read_module  # noqa: E402
from depyf.torch.kernels.interpreter import interpreting  # noqa: E402
from depyf.torch.kernels.standalone import Told, standalone  # noqa: E402

MODULE = Path(__file__).parents[2] / "links" / "inductor" / "module_triton.txt"
WITHOUT = "import runpy, sys; sys.modules['triton'] = None; runpy.run_path(sys.argv[1], run_name='__main__')"


def test_a_kernel_alone_says_so(tmp_path: Path) -> None:
    module = read_module(MODULE.read_text(encoding="utf-8"))
    (launch,) = launched(module, read_graph(""), {})
    path = tmp_path / "alone.py"
    path.write_text(standalone(launch, module, read_graph(""), Told("", {})), encoding="utf-8")
    ran = subprocess.run([sys.executable, "-c", WITHOUT, str(path)], capture_output=True, text=True)
    assert ran.returncode == 1
    assert ran.stderr.splitlines() == ["this is a kernel of Triton's: it needs `pip install triton`"]


def test_the_interpreter_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(ImportError, match="triton"), interpreting():
        pass


@pytest.mark.parametrize("body", ["tmp2 = tl.associative_scan(tmp1, 1, add)", "tmp2 = tl.cumsum(tmp1, 1)"])
def test_a_file_has_the_parts_of_the_interpreter_that_its_kernel_calls(body: str) -> None:
    text = MODULE.read_text(encoding="utf-8")
    summed = next(line.strip() for line in text.splitlines() if "tl.sum(" in line)
    parts = [_parts(changed) for changed in (text, text.replace(summed, body))]
    assert [("_scanned" in part, "_reduced" in part, "_take_own_kernels" in part) for part in parts] == [
        (False, True, False),
        (True, True, False),
    ]


def _parts(text: str) -> set[str]:
    """Return the names that the file of a module's kernel uses, and defines."""
    module = read_module(text)
    (launch,) = launched(module, read_graph(""), {})
    tree = ast.parse(standalone(launch, module, read_graph(""), Told("", {})))
    named = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id.startswith("_")} <= named | {
        "_SWITCH", "_SAME", "_OTHERS", "_FUNCTIONS", "_FLOATS", "_PATCHED", "__name__", "__file__", "_",
    }
    return named
