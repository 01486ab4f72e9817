"""Each form of Triton kernel: captured with name and launch, run by the interpreter, alone too, its lines linked."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from depyf.links.documents import kernel_sources  # noqa: E402 - after the check that torch is there
from depyf.links.inductor.lines import Launched  # noqa: E402
from depyf.links.origins import Origins  # noqa: E402
from depyf.model.index_reader import read_run  # noqa: E402

PROGRAM = Path(__file__).with_name("forms.py")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("triton") is None, reason="triton is not installed (`make test-triton` does that)"
    ),
]

LINKS = {
    "matmul": {"tl.dot(": "mm", "a = tl.load(": "mm", "triton_helpers.maximum": "relu"},
    "foreach": {"tmp2 = tmp0 * tmp1": "getitem", "tmp10 = tmp9 + tmp6": "getitem_3"},
    "unbound": {"tmp2 = tmp0 * tmp1": "getitem_2", "tmp9 = tmp7 + tmp8": "getitem_5"},
    "scan": {"_triton_helper_fn_add": "cumsum", "_triton_helper_fn_mul": "cumprod"},
    "sort": {"sort_with_index": "getitem"},
    "persistent": {"libdevice.exp": "exp", "tl.sum(": "sum_1"},
    "looped": {"tl.sum(": "sum_1"},
    "own": {"x = tl.load(": "triton_kernel_wrapper_mutation", "tl_math.sin": "sin"},
}
"""Pieces of lines of a form's kernels, and the node that each is there for."""

NAMES = {
    "matmul": "triton_tem_fused_mm_",
    "foreach": "triton_for_fused_",
    "unbound": "triton_for_fused_",
    "scan": "triton_per_fused_add_cumprod_cumsum_",
    "sort": "triton_per_fused_sort_",
    "persistent": "triton_per_fused__softmax_",
    "looped": "triton_red_fused_repeat_sum_",
    "own": "scaled_kernel_",
    "flex": "triton_tem_fused_",
}


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("forms")
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(directory / "cache"), "INDUCTOR_PROVENANCE": "1"}
    command = [sys.executable, str(PROGRAM), str(directory)]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    return directory


def launches(dump: Path) -> list[tuple[Launched, dict[str, Origins]]]:
    run = read_run(dump)
    sources = [source for _, compiled in run.session.compiles() for source in kernel_sources(run, compiled)]
    return [(launch, source.nodes) for source in sources for launch in source.launched()]


@pytest.mark.parametrize("form", NAMES)
def test_kernels_are_captured_with_their_names_and_launches(form: str, dumps: Path) -> None:
    form_launches = [launch for launch, _ in launches(dumps / form) if launch.kernel.name.startswith(NAMES[form])]
    assert form_launches, [launch.kernel.name for launch, _ in launches(dumps / form)]
    assert all(launch.launch.arguments for launch in form_launches)
    if form in ("matmul", "flex", "own"):
        assert [value for value in form_launches[0].launch.values[-3:] if isinstance(value, int)], "the grid"


@pytest.mark.parametrize("form", LINKS)
def test_lines_are_linked_to_their_nodes(form: str, dumps: Path) -> None:
    nodes_of = {}
    for launch, origins in launches(dumps / form):
        rows = launch.kernel.text.splitlines()
        for line in launch.lines:
            nodes_of[rows[line.statement.line - 1].strip()] = [node for node in line.nodes if origins.get(node)]
    for piece, node in LINKS[form].items():
        nodes_of_piece = [nodes for row, nodes in nodes_of.items() if piece in row]
        assert nodes_of_piece and node in nodes_of_piece[-1], (piece, nodes_of_piece)


@pytest.mark.parametrize("form", NAMES)
def test_kernels_alone_give_what_their_nodes_give(form: str, dumps: Path, tmp_path: Path) -> None:
    texts = {launch.kernel.name: launch.kernel.text for launch, _ in launches(dumps / form)}
    for name, text in sorted(texts.items()):
        path = tmp_path / f"{name}.py"
        command = [sys.executable, "-m", "depyf", "kernel", str(dumps / form), name, "-o", str(path), "--run"]
        ran = subprocess.run(command, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        is_checked = form != "flex" and not name.startswith("scaled_kernel")
        what = r"^\w+ is \w+ within" if is_checked else r" ran; none of its results |^\w+ is \w+ within"
        assert re.search(what, ran.stdout, re.MULTILINE), ran.stdout
        beside = path.read_text(encoding="utf-8").count("\n") - text.strip("\n").count("\n")
        assert beside < 200, f"{name}: {beside} lines beside the kernel"
