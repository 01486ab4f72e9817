"""`depyf fix` as a user types it: a program with two causes that a set of edits removes, and one that must stay."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("libcst", reason="depyf[fix] installs it")

CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "fix"
Fix = Callable[..., Any]
"""The command in the running process, with forked runs: `conftest.py`."""


def fix(program: Path, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(program, folder)
    command = [sys.executable, "-W", "ignore", "-m", "depyf", "fix", *options, program.name]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_two_causes_are_removed_and_the_file_stays(tmp_path: Path) -> None:
    program = CORPUS / "branch_and_print.py"
    done = fix(program, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the branch becomes `torch.where`" in done.stdout and "results equal" in done.stdout
    assert "0 graph breaks" in done.stdout and "still open" not in done.stdout
    result = json.loads((tmp_path / "fix.json").read_text())
    jsonschema = pytest.importorskip("jsonschema", reason="a development tool")
    jsonschema.validate(
        result, json.loads((CORPUS.parents[1] / "docs" / "fix.schema.json").read_text(encoding="utf-8"))
    )
    assert [trial["kept"] for trial in result["tried"]] == [True, True]
    assert (result["together"]["compiles"], result["together"]["breaks"]) == (1, 0)
    assert (tmp_path / program.name).read_bytes() == program.read_bytes()
    patch = (tmp_path / "depyf_fix.patch").read_text()
    assert "+    x = torch.where(x.mean() > 0, x * 2, x)\n" in patch
    subprocess.run(["patch", "-p1", "-i", "depyf_fix.patch"], cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.slow
def test_breaks_in_a_loop_are_removed_though_none_helps_alone(forked_fix: Fix, tmp_path: Path) -> None:
    done = forked_fix(CORPUS / "breaks_in_a_loop.py")
    assert done.exit_code == 0, done.output
    assert "needed by the others" in done.stdout and "1 compile, 0 graph breaks" in done.stdout
    patch = (tmp_path / "depyf_fix.patch").read_text()
    assert "-        torch._dynamo.graph_break()\n" in patch
    assert "+        x = x * x.abs().max().detach()\n" in patch


@pytest.mark.slow
def test_an_edit_that_changes_a_gradient_is_dropped(forked_fix: Fix, tmp_path: Path) -> None:
    program = CORPUS / "nan_hidden_by_the_branch.py"
    done = forked_fix(program)
    assert done.exit_code == 0, done.output
    chosen, conditional = (row for row in done.stdout.splitlines() if "the branch becomes" in row)
    assert "`torch.where`" in chosen and "grad" in chosen and chosen.endswith("dropped")
    assert "`torch.cond`" in conditional and "results equal" in conditional and conditional.endswith("kept")
    assert (tmp_path / program.name).read_bytes() == program.read_bytes()


@pytest.mark.slow
def test_a_program_that_ends_late_is_no_hang(tmp_path: Path) -> None:
    program = tmp_path / "endless.py"
    program.write_text("import time\nimport torch\ntime.sleep(600)\n")
    command = [sys.executable, "-W", "ignore", "-m", "depyf", "fix", "--limit", "8", program.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert "it did not end in time" in done.stdout


def test_what_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "depyf", "fix", "nowhere.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "depyf fix: there is no script 'nowhere.py'\n")
