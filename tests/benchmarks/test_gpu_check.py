"""The check of a GPU where there is none: every part is skipped, or runs in its small form."""

from __future__ import annotations

import functools
import json
import multiprocessing
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.gpu_check import __main__ as command
from benchmarks.gpu_check import running
from benchmarks.gpu_check.checks import Told, read
from benchmarks.gpu_check.plan import PARTS, Part
from tests.benchmarks import forked_parts

ROOT = Path(__file__).resolve().parents[2]


def checked(out: Path, *options: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    arguments = [sys.executable, "-W", "ignore", "-m", "benchmarks.gpu_check", "--out", str(out), *options]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    return done, json.loads((out / "gpu.json").read_text("utf-8"))


def test_without_a_gpu_each_part_says_that_it_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    done, checks = checked(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {part["state"] for part in checks["parts"].values()} == {"skipped"}
    assert sorted(checks["parts"]) == sorted(part.letter for part in PARTS)
    assert "torch finds no GPU here" in done.stdout


@pytest.mark.slow
def test_every_part_runs_in_its_small_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("transformers")
    if "forkserver" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system has no fork")
    monkeypatch.setattr(command, "run_part", functools.partial(forked_parts.run_part, forked_parts.context()))
    code = command.main(["--out", str(tmp_path), "--device", "cpu", "--budget", "400"])
    assert code == 0, capsys.readouterr().out
    checks = json.loads((tmp_path / "gpu.json").read_text("utf-8"))
    assert {part["state"] for part in checks["parts"].values()} == {"done"}
    assert all(part["checks"] for part in checks["parts"].values())


def test_a_part_that_is_done_does_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, first = checked(tmp_path, "--device", "cpu", "--parts", "i")
    assert first["parts"]["i"]["state"] == "done" and first["parts"]["i"]["checks"]
    began: list[str] = []

    def begin(part: Part, *_: object) -> str:
        began.append(part.letter)
        return running.DONE

    monkeypatch.setattr(command, "run_part", begin)
    options = ["--out", str(tmp_path), "--device", "cpu", "--parts", "i"]
    assert command.main(options) == 0
    assert not began and json.loads((tmp_path / "gpu.json").read_text("utf-8")) == first
    assert command.main([*options, "--again"]) == 0
    assert began == ["i"]


def test_without_time_no_part_begins(tmp_path: Path) -> None:
    done, checks = checked(tmp_path, "--device", "cpu", "--budget", "1")
    assert done.returncode == 1
    assert {part["state"] for part in checks["parts"].values()} == {"no time left"}


def test_what_a_part_told_before_its_limit_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = Part("x", "endless", "a part without an end", 3)
    script = "import sys, time; from pathlib import Path; from benchmarks.gpu_check.checks import Told\n"
    script += "Told(Path(sys.argv[1])).add('before', 1, True)\ntime.sleep(600)\n"
    monkeypatch.setattr(running.sys, "executable", str(_python(tmp_path, script, running.results(tmp_path, part))))
    assert running.run_part(part, "cpu", tmp_path, 3) == running.LATE
    assert [result.what for result in read(running.results(tmp_path, part))] == ["before"]


def _python(folder: Path, script: str, results: Path) -> Path:
    """Return a program that runs a script instead of the worker."""
    (folder / "endless.py").write_text(script, encoding="utf-8")
    path = folder / "python"
    path.write_text(f"#!/bin/sh\nexec {sys.executable} {folder / 'endless.py'} {results}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    part_results = Told(tmp_path / "x.jsonl")
    part_results.add("whole", 1, True, ["why"])
    with (tmp_path / "x.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"what": "half')
    (check,) = read(tmp_path / "x.jsonl")
    assert (check.what, check.met, check.details) == ("whole", True, ("why",))


def test_nothing_measured_is_no_bar_that_is_met(tmp_path: Path) -> None:
    part_results = Told(tmp_path / "x.jsonl")
    part_results.none_of("of nothing", [], 0)
    (check,) = read(tmp_path / "x.jsonl")
    assert check.met is False
    part = {"state": "done", "checks": [{"met": False}]}
    assert not command.is_good({"parts": {"a": part}})
