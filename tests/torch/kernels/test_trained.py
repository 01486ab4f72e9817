"""Backward, recompiles, the report and `depyf diff` where kernels are Triton's."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from click.testing import CliRunner  # noqa: E402 - after the check that torch is there

from depyf.cli.commands import depyf  # noqa: E402
from depyf.links.documents import kernel_sources  # noqa: E402
from depyf.model.index_reader import read_run  # noqa: E402
from depyf.model.run import FirstCall, Recompile  # noqa: E402
from depyf.views.html.process import processes  # noqa: E402

PROGRAM = Path(__file__).with_name("trained.py")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("triton") is None, reason="triton is not installed (`make test-triton` does that)"
    ),
]


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("trained")
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(directory / "cache"), "INDUCTOR_PROVENANCE": "1"}
    command = [sys.executable, str(PROGRAM), str(directory)]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    return directory


def test_each_compile_has_triton_kernels_of_its_forward_and_of_its_backward(dumps: Path) -> None:
    run = read_run(dumps / "step")
    compiles = [compiled for _, compiled in run.session.compiles()]
    assert [type(compiled.trigger) for compiled in compiles] == [FirstCall, Recompile]
    for compiled in compiles:
        parts = {source.part: list(source.launched()) for source in kernel_sources(run, compiled)}
        assert parts.keys() == {"forward", "backward"} and all(parts.values())
        for launch in (kernel_launch for part in parts.values() for kernel_launch in part):
            assert launch.kernel.name.startswith("triton_") and launch.kernel.language == "triton"
            assert all(line.nodes for line in launch.lines), launch.kernel.name


def test_the_report_lists_triton_kernels_of_both_parts(dumps: Path) -> None:
    result = CliRunner().invoke(depyf, ["report", str(dumps / "step")])
    assert result.exit_code == 0, result.output
    (process,) = processes(dumps / "step", 0.0)
    rows = {(row.compile, row.part) for row in process.kernels if row.name.startswith("triton_")}
    assert rows == {(compile_id, part) for compile_id in ("0/0", "0/1") for part in ("forward", "backward")}
    page = (dumps / "step" / "report" / "index.html").read_text()
    assert all(f"<code>{row.name}</code>" in page for row in process.kernels)


def test_diff_shows_the_line_of_the_kernel_that_is_another(dumps: Path) -> None:
    result = CliRunner().invoke(depyf, ["diff", str(dumps / "step"), str(dumps / "other"), "--of", "kernels", "--all"])
    assert "tl_math.sin" in result.output and "tl_math.cos" in result.output, result.output
