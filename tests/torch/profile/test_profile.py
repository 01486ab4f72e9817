"""What a profile says of programs that run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import torch

import depyf
from depyf.model.run import Unavailable
from depyf.torch.adapters import lacking, runs
from depyf.torch.profile.measurement import UNLINED
from tests.torch.profile import programs

_watch = runs.watch_runs(lambda code: None)
if not isinstance(_watch, Unavailable):
    _watch()
TOLD_OF_CALLS = pytest.mark.skipif(isinstance(_watch, Unavailable), reason=getattr(_watch, "reason", ""))
_lacking = lacking.profiled_compiles()
COMPILES = pytest.mark.skipif(_lacking is not None, reason=getattr(_lacking, "reason", ""))
EAGERLY = pytest.mark.skipif(not hasattr(torch.compiler, "set_stance"), reason="torch before 2.6 has no stances")
SCHEMA = Path(__file__).parents[3] / "docs" / "profile.schema.json"


@pytest.fixture(autouse=True)
def _reset() -> None:
    torch._dynamo.reset()


def profiled(directory: Path, function: Any, *arguments: Any, steps: int = 80, **options: Any) -> dict[str, Any]:
    with depyf.profile(directory, **options) as profile:
        for _ in range(steps):
            function(*arguments)
            profile.step()
    return profile.result


def line_of(text: str) -> int:
    """Return the number of the one line of the programs with a text."""
    rows = Path(programs.__file__).read_text(encoding="utf-8").splitlines()
    line_numbers = [number for number, row in enumerate(rows, start=1) if text in row]
    assert len(line_numbers) == 1, text
    return line_numbers[0]


def numbers(row: dict[str, Any]) -> list[int]:
    return [line["line"] for line in row["set"]] or [row["line"]]


@COMPILES
def test_the_heavy_line_is_first_and_every_moment_is_charged(tmp_path: Path) -> None:
    result = profiled(tmp_path, torch.compile(programs.heavy, backend="eager"), torch.randn(192, 192))
    assert numbers(result["lines"][0]) == [line_of("the heavy line")]
    assert sum(result["kinds"].values()) == pytest.approx(result["step"]["seconds"])
    assert result["step"]["named"] > 0.95
    assert json.loads((tmp_path / "profile.json").read_text()) == json.loads(json.dumps(result))
    jsonschema.validate(result, json.loads(SCHEMA.read_text(encoding="utf-8")))
    shares = [row["share"] for row in result["lines"]]
    assert shares == sorted(shares, reverse=True)


@COMPILES
def test_a_graph_break_its_gap_and_eager_code_have_their_lines(tmp_path: Path) -> None:
    result = profiled(tmp_path, programs.broken(torch.compile(programs.with_break, backend="eager")), torch.ones(8))
    kinds = {(numbers(row)[0], kind) for row in result["lines"] for kind in row["kinds"]}
    assert (line_of("the break"), "break") in kinds
    assert (line_of("the eager line"), "eager") in kinds
    assert [row["line"] for row in result["breaks"]] == [line_of("the break")]
    (finding,) = result["findings"]
    assert finding["where"]["line"] == line_of("the break") and finding["seconds"] > 0
    assert {row["name"].partition(" ")[0] for row in result["functions"]} >= {"with_break"}


@COMPILES
def test_a_training_step_has_a_backward_by_line_and_an_optimizer(tmp_path: Path) -> None:
    result = profiled(tmp_path, programs.Training("aot_eager").step)
    assert result["kinds"]["optimizer"] > 0
    assert result["kinds"]["backward"] > 0


@COMPILES
def test_kernels_of_inductor_serve_lines_alone_or_together(tmp_path: Path) -> None:
    result = profiled(tmp_path, programs.Training("inductor").step)
    kernels = {row["name"]: row for row in result["kernels"]}
    fused = [row for name, row in kernels.items() if "cpp_fused" in name]
    assert fused and {row["kind"] for row in fused} == {"kernel", "backward"}
    if hasattr(torch._inductor.config.trace, "provenance_tracking_level"):
        assert all(row["lines"] for row in fused), "this torch says which nodes a kernel computes"
    backward = {number for row in result["lines"] if "backward" in row["kinds"] for number in numbers(row)}
    assert line_of("the product") in backward
    assert result["step"]["named"] > 0.95


def test_results_and_torch_are_as_before(tmp_path: Path) -> None:
    torch.manual_seed(0)
    given = torch.randn(64, 64)
    expected = torch.compile(programs.heavy, backend="aot_eager")(given)
    torch._dynamo.reset()
    before = torch._inductor.config.cpp.enable_kernel_profile
    compiled = torch.compile(programs.heavy, backend="aot_eager")
    results = []
    with depyf.profile(tmp_path):
        results += [compiled(given) for _ in range(40)]
    assert all(torch.equal(result, expected) for result in results)
    assert torch._inductor.config.cpp.enable_kernel_profile == before
    assert not torch.autograd._profiler_enabled()
    assert sys.gettrace() is None


def profiled_against_eager(directory: Path, backend: str) -> dict[str, Any]:
    return profiled(directory, programs.Training(backend).step, steps=120, against_eager=True)


@EAGERLY
def test_lines_have_their_time_without_compiled_code(tmp_path: Path) -> None:
    result = profiled_against_eager(tmp_path, "aot_eager")
    row = next(row for row in result["lines"] if numbers(row) == [line_of("the product")])
    assert row["eager"] > 0 and result["step"]["eager"] > 0
    assert torch._dynamo.eval_frame._stance.stance == "default"


@EAGERLY
@TOLD_OF_CALLS
def test_calls_are_steps_without_compiled_code_too(tmp_path: Path) -> None:
    compiled = torch.compile(programs.heavy, backend="eager")
    with depyf.profile(tmp_path, against_eager=True) as profile:
        for _ in range(200):
            compiled(torch.ones(16, 16))
    (row,) = [row for row in profile.result["lines"] if numbers(row) == [line_of("the heavy line")]]
    assert row["eager"] > 0 and profile.result["step"]["eager"] > 0
    assert torch._dynamo.eval_frame._stance.stance == "default"


@EAGERLY
def test_lines_of_libraries_have_their_time_without_compiled_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "packaged.py").write_text("def twice(x):\n    return (x @ x).relu()\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("depyf.torch.profile.lined.is_installed", lambda file: not file.endswith("programs.py"))
    import packaged  # type: ignore[import-not-found]

    compiled = torch.compile(packaged.twice, backend="eager")
    result = profiled(tmp_path / "out", compiled, torch.randn(64, 64), steps=120, against_eager=True)
    (row,) = [row for row in result["lines"] if row["file"].endswith("packaged.py") and row["kind"] == "kernel"]
    assert row["line"] == 2 and row["eager"] > 0


def test_a_program_that_profiles_itself_is_left_alone(tmp_path: Path) -> None:
    compiled = torch.compile(programs.heavy, backend="eager")
    with torch.autograd.profiler.profile() as profiler:
        result = profiled(tmp_path, compiled, torch.randn(8, 8))
    assert profiler.function_events
    assert result["lines"] == []
    assert "the program profiles itself" in result["notes"][0]


@TOLD_OF_CALLS
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_is_not_measured(tmp_path: Path) -> None:
    with depyf.profile(tmp_path / "dump") as profile:
        for _ in range(10):
            profile.step()
        child = os.fork()
        if child == 0:
            before = len(profile.recording.windows)
            for _ in range(100):
                profile.step()
            os._exit(len(profile.recording.windows) - before)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        for _ in range(100):
            profile.step()
    assert profile.recording.windows


@TOLD_OF_CALLS
def test_run_measures_a_script_and_says_what_cost_most(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\n"
        "@torch.compile(backend='eager')\n"
        "def f(x):\n"
        "    y = x + 1\n"
        "    return torch.linalg.matrix_power(y, 9)\n"
        "x = torch.randn(128, 128)\n"
        "for _ in range(80):\n"
        "    f(x)\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "depyf", "run", "--profile", "--no-html", "-o", "dump", script.name]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True)
    lines = ran.stderr.splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("depyf: a step takes"))
    assert "script.py:5  return torch.linalg.matrix_power(y, 9)" in lines[first + 1]
    assert "Kineto" not in ran.stderr and "profiler_start" not in ran.stderr
    assert json.loads((tmp_path / "dump" / "profile.json").read_text())["lines"][0]["line"] == 5


def test_a_module_of_a_library_is_charged_to_the_line_that_calls_it(tmp_path: Path) -> None:
    compiled = torch.compile(torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.GELU()), backend="aot_eager")
    given = torch.ones(8, 32)
    with depyf.profile(tmp_path) as profile:
        for _ in range(200):
            loss = compiled(given).square().mean()
            loss.backward()
            profile.step()
    (first, *_) = profile.result["lines"]
    assert first["text"] == "loss = compiled(given).square().mean()"
    assert {"kernel", "eager", "backward"} <= set(first["kinds"])


def test_a_run_that_ends_before_lines_are_marked_says_so(tmp_path: Path) -> None:
    compiled = torch.compile(torch.nn.Linear(4, 4), backend="eager")
    with depyf.profile(tmp_path) as profile:
        for _ in range(45):
            compiled(torch.ones(2, 4)).square()
            profile.step()
    # A machine so slow that 10 steps take 20 ms comes to its marked lines earlier.
    is_marked = any("eager" in line["kinds"] for line in profile.result["lines"])
    assert is_marked != (UNLINED in profile.result["notes"])
