"""The pytest plugin: the marker, the fixture, snapshots, and what each test finds of the one before it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from depyf.torch.adapters import lacking  # noqa: E402 - after the check that torch is there
from tests.torch.needs import needs  # noqa: E402

pytestmark = [needs(lacking.structured_trace()), needs(lacking.refusals())]

PROGRAM = """
import os
import pytest, torch

def straight(x): return (x.sin() * 2).relu()

def breaks(x):
    y = x.sin()
    if y.sum() > 10:
        y = y + 1
    return y.cos()

def eager(function): return torch.compile(function, backend="eager")
"""

TESTS = """
@pytest.mark.compiles(graphs=1, breaks=0, recompiles=0, eager_calls=0)
def test_good(): eager(straight)(torch.ones(3))

@pytest.mark.compiles(graphs=1, breaks=0)
def test_bad(): eager(breaks)(torch.ones(3))

def test_block(compiles):
    compiled = eager(straight)
    with compiles(graphs=1):
        compiled(torch.ones(3))
    with compiles(graphs=0):
        compiled(torch.ones(3))

def test_recompile(compiles):
    compiled = eager(straight)
    with compiles(recompiles=0):
        compiled(torch.ones(3))
        compiled(torch.ones(4))

compiled = eager(straight)
folders = set()

@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.compiles(graphs=1, recompiles=0)
def test_fresh(n):
    compiled(torch.ones(n + 1))
    folders.add(os.environ["TORCHINDUCTOR_CACHE_DIR"])
    assert len(folders) == n and not os.path.exists(os.environ["TRITON_CACHE_DIR"])

def test_after(): assert os.environ.get("TORCHINDUCTOR_CACHE_DIR") not in folders
"""

SNAPSHOT = """
@pytest.mark.compiles(snapshot=True)
def test_it(): eager(breaks)(torch.ones(3))
"""


def run(folder: Path, *options: str) -> dict[str, str]:
    """Run the tests of a folder in a process of its own; return the words at the end of each, and all under ''."""
    loaded = ["-p", "depyf.pytest_plugin", "-p", "no:depyf", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-rA", "--import-mode=importlib", *loaded, *options, "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    words = (line.split() for line in done.stdout.splitlines() if line.startswith(("PASSED", "FAILED", "ERROR")))
    return {word[1]: word[0] for word in words} | {"": done.stdout + done.stderr}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("plain")
    (folder / "test_it.py").write_text(PROGRAM + TESTS, encoding="utf-8")
    return run(folder)


def test_a_marked_test_keeps_its_contract_or_fails_with_the_line(plain: dict[str, str]) -> None:
    assert (plain["test_it.py::test_good"], plain["test_it.py::test_bad"]) == ("PASSED", "FAILED"), plain[""]
    assert "1 graph break, the contract says 0\n  test_it.py:9: breaks: `if y.sum() > 10:`: Data-dep" in plain[""]


def test_the_fixture_checks_a_block(plain: dict[str, str]) -> None:
    assert (plain["test_it.py::test_block"], plain["test_it.py::test_recompile"]) == ("PASSED", "FAILED"), plain[""]
    assert 'straight: size of L["x"]: expected (3,), got (4,)' in plain[""]


def test_each_test_has_a_fresh_dynamo_and_caches_of_its_own(plain: dict[str, str]) -> None:
    ran = [plain[f"test_it.py::test_{name}"] for name in ("fresh[1]", "fresh[2]", "fresh[3]", "after")]
    assert ran == ["PASSED"] * 4, plain[""]


def test_torchs_trace_is_in_no_captured_log(plain: dict[str, str]) -> None:
    assert "torch.__trace" not in plain[""]


def test_snapshots_are_written_and_compared(tmp_path: Path) -> None:
    cases = ("same", "moved", "worse", "of_other_torch", "worse_of_other_torch", "missing")
    for case in cases:
        (tmp_path / f"test_{case}.py").write_text(PROGRAM + SNAPSHOT, encoding="utf-8")
    written = run(tmp_path, "--update-compiles")
    assert set(written.values()) - {written[""]} == {"PASSED"}, written[""]
    files = {case: tmp_path / "__compiles__" / f"test_{case}" / "test_it.txt" for case in cases}
    text = files["same"].read_text(encoding="utf-8")
    assert text.startswith("# What test_it compiles.")
    assert "graph breaks\ngraph breaks (after a break)\nbreak breaks: `if y.sum() > 10:`: Data-dependent" in text
    other = text.replace("\ntorch 2.", "\ntorch 1.").replace("Data-dependent", "Other words")
    (tmp_path / "test_moved.py").write_text("\n\n" + PROGRAM + SNAPSHOT, encoding="utf-8")
    files["worse"].write_text("\n".join(line for line in text.splitlines() if not line.startswith("break")))
    files["of_other_torch"].write_text(other, encoding="utf-8")
    files["worse_of_other_torch"].write_text(other.replace("graph breaks (after a break)\n", ""), encoding="utf-8")
    files["missing"].unlink()
    outcomes = run(tmp_path)
    passed = {case for case in cases if outcomes[f"test_{case}.py::test_it"] == "PASSED"}
    assert passed == {"same", "moved", "of_other_torch"}, outcomes[""]
    assert "+break breaks: `if y.sum() > 10:`" in outcomes[""]
    assert "1 more break in breaks: `if y.sum() > 10:`" in outcomes[""]
    assert (
        "test_of_other_torch.py::test_it: __compiles__/test_of_other_torch/test_it.txt was written with" in outcomes[""]
    )
    assert "`pytest --update-compiles`" in outcomes[""]


def test_loading_the_plugin_imports_no_torch(tmp_path: Path) -> None:
    test = "import sys\ndef test_plain(): assert not {'torch', 'depyf.torch'}.intersection(sys.modules)\n"
    (tmp_path / "test_plain.py").write_text(test, encoding="utf-8")
    outcomes = run(tmp_path)
    assert outcomes["test_plain.py::test_plain"] == "PASSED", outcomes[""]
