"""What `depyf run` is asked for: the report, fewer functions, no kernels, a configuration for an editor."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("click", reason="the command line needs click")

PROGRAM = """
import os, signal, sys
import torch

@torch.compile(backend=sys.argv[1])
def first(x):
    y = x + 1
    if y.sum() > 0:
        return y * 2
    return y

@torch.compile(backend=sys.argv[1])
def second(x):
    return x - 1

print(first(torch.ones(3)).tolist(), second(torch.ones(3)).tolist(), flush=True)
if "killed" in sys.argv:
    os.kill(os.getpid(), signal.SIGKILL)
"""
START = "from depyf.cli.entry import main; main()"


def run(folder: Path, options: list[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-c", START, "run", "-o", "out", *options, "program.py", *(arguments or ("eager",))]
    environment = {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture(scope="module")
def without_report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Run the program without a report, and with a configuration for an editor; return the folder and what was told."""
    folder = tmp_path_factory.mktemp("options")
    return folder, run(folder, ["--no-html", "--vscode"])


def names(folder: Path) -> list[str]:
    index = json.loads((folder / "out" / "index.json").read_text(encoding="utf-8"))
    return [function["name"] for function in index["functions"]]


def test_a_killed_program_has_a_report_of_what_was_seen(tmp_path: Path) -> None:
    done = run(tmp_path, [], "eager", "killed")
    assert done.returncode < 0
    page = (tmp_path / "out" / "report" / "index.html").read_text(encoding="utf-8")
    assert "The run had not ended when this report was written" in page and "program.py:5" in page


def test_no_report_where_none_is_wanted(without_report: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, done = without_report
    assert not (folder / "out" / "report").exists()
    assert "depyf: in out/index.md\n" in done.stderr


def test_the_report_of_a_run_leaves_out_what_an_earlier_one_left(
    without_report: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    shutil.copytree(without_report[0] / "out", tmp_path / "out")
    (tmp_path / "out" / "index.json").rename(tmp_path / "out" / "kept.json")
    (tmp_path / "out" / "process_7").mkdir()
    old = tmp_path / "out" / "process_7" / "index.json"
    (tmp_path / "out" / "kept.json").rename(old)
    os.utime(old, (1, 1))
    run(tmp_path, [])
    page = (tmp_path / "out" / "report" / "index.html").read_text(encoding="utf-8")
    assert "process 7" not in page


@pytest.mark.parametrize("pattern", ["first", "fir*"])
def test_only_some_functions_are_captured_with_what_resumes_them(tmp_path: Path, pattern: str) -> None:
    done = run(tmp_path, ["--no-html", "--only", pattern])
    assert done.stdout == "[4.0, 4.0, 4.0] [0.0, 0.0, 0.0]\n", done.stderr
    assert names(tmp_path) == ["first"]
    assert "2 compiles of 1 function" in done.stderr
    index = json.loads((tmp_path / "out" / "index.json").read_text(encoding="utf-8"))
    assert index["compiled_before"] == [] and len(index["functions"][0]["resume_functions"]) == 1


def test_only_of_a_file(tmp_path: Path) -> None:
    run(tmp_path, ["--no-html", "--only", "*program.py"])
    assert names(tmp_path) == ["first", "second"]
    done = run(tmp_path, ["--no-html", "--only", "*other.py"])
    assert names(tmp_path) == []
    assert "0 compiles of 0 functions that match --only *other.py" in done.stderr


@pytest.mark.slow
def test_inductors_modules_can_be_left_out(tmp_path: Path) -> None:
    done = run(tmp_path, ["--no-html", "--no-dump-kernels"], "inductor")
    assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "out").glob("*kernel*")) and list((tmp_path / "out").glob("*AFTER_POST_GRAD*"))


def test_an_editor_gets_a_configuration_that_runs_the_same(
    without_report: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, _ = without_report
    launch_file = json.loads((folder / "out" / ".vscode" / "launch.json").read_text(encoding="utf-8"))
    (configuration,) = launch_file["configurations"]
    assert configuration["type"] == "debugpy" and configuration["cwd"] == str(folder)
    script = str(folder / "program.py")
    assert configuration["args"] == ["run", "--debug", "-o", str(folder / "out"), script, "eager"]
