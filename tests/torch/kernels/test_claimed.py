"""What Inductor writes for GPUs: modules with device guards, parts of graphs, two devices, and CUDA graphs skipped."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from depyf.links.documents import kernel_sources  # noqa: E402 - after the check that torch is there
from depyf.links.inductor.lines import Launched  # noqa: E402
from depyf.links.inductor.module import Buffer  # noqa: E402
from depyf.model.index_reader import read_run  # noqa: E402

PROGRAM = Path(__file__).with_name("claimed.py")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("triton") is None, reason="triton is not installed (`make test-triton` does that)"
    ),
]

KERNELS = {
    "one": ["triton_per_fused__softmax_add_mul_0"],
    "two": ["triton_poi_fused__to_copy_sin_0", "triton_per_fused__softmax_add_1"],
    "host": ["triton_poi_fused__to_copy_sin_0", "cpp_fused__to_copy_cos_1", "triton_poi_fused_add_2"],
}
DEVICES = {"one": ["cuda:0"], "two": ["cuda:0", "cuda:1"], "host": ["cuda:0", "cpu"]}
SKIPPED = {"one": None, "two": "multiple devices: cuda:0, cuda:1", "host": "cpu device (device_put)"}


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("claimed")
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(directory / "cache"), "INDUCTOR_PROVENANCE": "1"}
    command = [sys.executable, str(PROGRAM), str(directory)]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    assert [line.split()[0] for line in ran.stdout.splitlines()] == list(KERNELS)
    return directory


def index(dump: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((dump / "index.json").read_text())
    assert not content["problems"]
    return content


def launches(dump: Path) -> list[Launched]:
    run = read_run(dump)
    return [
        launch
        for _, compiled in run.session.compiles()
        for source in kernel_sources(run, compiled)
        for launch in source.launched()
    ]


def module_text(dump: Path) -> str:
    (path,) = dump.glob("*.kernel_0.py")
    return path.read_text()


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_of_a_gpu_are_found_in_the_order_in_which_they_run(name: str, dumps: Path) -> None:
    launched_kernels = launches(dumps / name)
    assert [launch.kernel.name for launch in launched_kernels] == KERNELS[name]
    assert "torch.cuda._DeviceGuard(0)" in module_text(dumps / name)
    for launch in launched_kernels:
        buffers = [value for value in launch.launch.values if isinstance(value, Buffer)]
        assert len(buffers) == sum(not text.isdigit() for text in launch.launch.arguments), launch.launch
        assert all((value.size, value.dtype) == ((16, 16), "float32") for value in buffers)


@pytest.mark.parametrize("name", KERNELS)
def test_all_lines_that_compute_are_linked_on_either_side_of_a_copy(name: str, dumps: Path) -> None:
    for launch in launches(dumps / name):
        without = [line.statement.line for line in launch.lines if not line.nodes]
        assert launch.lines and not without, (launch.kernel.name, without)


@pytest.mark.parametrize("name", KERNELS)
def test_devices_of_the_graph_are_shown(name: str, dumps: Path) -> None:
    (path,) = (dumps / name).glob("*.AFTER_POST_GRAD.0.py")
    text = path.read_text()
    assert [device for device in ("cuda:0", "cuda:1", "cpu") if device in text] == DEVICES[name]


@pytest.mark.parametrize("name", KERNELS)
def test_why_there_is_no_cuda_graph_is_told(name: str, dumps: Path) -> None:
    content = index(dumps / name)
    reasons = [graph["reason"] for graph in content["functions"][0]["compiles"][0]["cuda_graphs"]]
    assert reasons == ([] if SKIPPED[name] is None else [SKIPPED[name]])
    assert [finding["kind"] for finding in content["findings"]] == ["cuda-graph-skipped"] * len(reasons)


def test_a_kernel_of_a_part_runs_alone(dumps: Path, tmp_path: Path) -> None:
    for number, name in enumerate(KERNELS["two"]):
        path = tmp_path / f"{number}.py"
        command = [sys.executable, "-m", "depyf", "kernel", str(dumps / "two"), name, "-o", str(path), "--run"]
        ran = subprocess.run(command, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert re.search(r"^\w+ is \w+ within", ran.stdout, re.MULTILINE), ran.stdout
