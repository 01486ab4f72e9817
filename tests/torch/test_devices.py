"""Devices, streams, autocast and TF32 on a machine without a GPU: fake tensors have devices that are not there."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import torch
from torch._dynamo.exc import BackendCompilerFailed
from torch._subclasses.fake_tensor import FakeTensorMode

import depyf
from depyf.links.documents import documents
from depyf.model.index_reader import read_run

Step = Callable[..., Any]


@pytest.fixture(autouse=True)
def _reset() -> Iterator[None]:
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU, so the second of the fake ones cannot be made")
    torch._dynamo.reset()
    with FakeTensorMode(allow_non_fake_inputs=True):
        try:
            torch.compile(scaled, backend="aot_eager")(on("cpu"))
        except BackendCompilerFailed:
            pytest.skip("this torch compiles no fake tensor of another mode")
        torch._dynamo.reset()
        yield


def on(device: str) -> torch.Tensor:
    return torch.ones(4, 4, device=device)


def told(function: Step, calls: Step, directory: Path) -> dict[str, Any]:
    """Return the index of some calls of a compiled function."""
    with depyf.prepare_debug(str(directory)):
        calls(torch.compile(function, backend="aot_eager"))
    index: dict[str, Any] = json.loads((directory / "index.json").read_text())
    assert not index["problems"]
    return index


def scaled(x: torch.Tensor) -> torch.Tensor:
    return x * 2 + x


def test_a_guard_names_the_device_and_its_index(tmp_path: Path) -> None:
    index = told(scaled, lambda compiled: compiled(on("cuda:1")), tmp_path)
    (compiled,) = index["functions"][0]["compiles"]
    (guard,) = (guard for guard in compiled["guards"] if guard["kind"] == "TENSOR_MATCH")
    assert "cuda:1" in guard["clause"] and guard["where"]["text"] == "return x * 2 + x"


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("cuda:0", "cuda:1", "on 'cuda:1', not on 'cuda:0'"),
        ("cuda:0", "cpu", "on 'cpu', not on 'cuda:0'"),
        ("cpu", "cuda:0", "on 'cuda:0', not on 'cpu'"),
    ],
)
def test_another_device_is_the_cause_of_a_recompile(first: str, second: str, words: str, tmp_path: Path) -> None:
    index = told(scaled, lambda compiled: (compiled(on(first)), compiled(on(second))), tmp_path)
    (finding,) = index["findings"]
    assert finding["kind"] == "tensor-device" and finding["compiles"] == ["0/1"]
    assert f"`x` was {words}" in finding["cause"]


def test_torchs_words_about_the_index_of_a_device_can_be_read(tmp_path: Path) -> None:
    index = told(scaled, lambda compiled: (compiled(on("cuda:0")), compiled(on("cuda:1"))), tmp_path)
    (refused,) = index["functions"][0]["compiles"][1]["trigger"]["entries"]
    text = " ".join(refused["clauses"])
    assert "device" in text and text.isprintable(), text
    assert "device index" not in text or "to be 0, actual 1" in text


def test_several_devices_in_one_graph_are_shown(tmp_path: Path) -> None:
    def both(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        moved = y.sin().to(x.device)
        return x + moved

    told(both, lambda compiled: compiled(on("cuda:0"), on("cuda:1")), tmp_path)
    run = read_run(tmp_path)
    ((function, compiled),) = run.session.compiles()
    graph = next(document for document in documents(run, function, compiled) if document.key == "forward_graph")
    first = function.first_line
    lines = {row.strip().partition(":")[0]: graph.links.of(at) for at, row in enumerate(graph.text.splitlines(), 1)}
    assert "cuda:0" in graph.text and "cuda:1" in graph.text
    assert {line for _, line in lines["sin"]} == {first + 1} and {line for _, line in lines["add"]} == {first + 2}


@contextmanager
def autocast_of_cuda() -> Iterator[None]:
    """Have autocast on for a GPU that is not there: `torch.autocast` itself leaves it off then."""
    torch.set_autocast_enabled("cuda", True)
    try:
        yield
    finally:
        torch.set_autocast_enabled("cuda", False)


def test_autocast_of_another_device_is_the_cause_of_a_recompile(tmp_path: Path) -> None:
    def calls(compiled: Step) -> None:
        compiled(on("cuda:0"))
        with autocast_of_cuda():
            compiled(on("cuda:0"))

    index = told(scaled, calls, tmp_path)
    (finding,) = index["findings"]
    assert finding["kind"] == "autocast" and "'cuda': torch.float16" in finding["cause"]


@contextmanager
def matmul_precision(name: str) -> Iterator[None]:
    """Set the precision of float32 products for a while.

    Since 2.15 torch tells "none", its default, from "ieee", which "highest" sets.
    """
    matmul = torch.backends.cuda.matmul
    before, exact = torch.get_float32_matmul_precision(), getattr(matmul, "fp32_precision", None)
    torch.set_float32_matmul_precision(name)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
        if exact is not None:
            matmul.fp32_precision = exact


def test_tf32_is_the_cause_of_a_recompile(tmp_path: Path) -> None:
    def calls(compiled: Step) -> None:
        compiled(on("cuda:0"))
        with matmul_precision("high"):
            compiled(on("cuda:0"))

    index = told(scaled, calls, tmp_path)
    assert [finding["kind"] for finding in index["findings"]] == ["matmul-precision"]
    assert re.search("'tf32'|True", index["findings"][0]["cause"])


def test_nodes_on_a_stream_are_linked_to_their_own_lines(tmp_path: Path) -> None:
    def streamed(x: torch.Tensor) -> torch.Tensor:
        stream = torch.Stream(device="cpu")
        with stream:
            y = x.sin()
        return y + 1

    with depyf.prepare_debug(str(tmp_path)):
        torch.compile(streamed, backend="eager")(on("cpu"))
    run = read_run(tmp_path)
    ((function, compiled),) = run.session.compiles()
    if compiled.failure is not None or "'stream'" not in (captured := captured_graph(tmp_path)):
        pytest.skip("this torch does not take streams into its graphs")
    graph = next(document for document in documents(run, function, compiled) if document.key == "captured_graph")
    rows = graph.text.splitlines()
    place = next(at for at, row in enumerate(rows, 1) if ".sin()" in row and "=" in row and "#" not in row)
    assert {line for _, line in graph.links.of(place)} == {inspect.getsourcelines(streamed)[1] + 3}, captured


def captured_graph(directory: Path) -> str:
    return "".join(path.read_text() for path in directory.glob("*Captured_Graph*"))
