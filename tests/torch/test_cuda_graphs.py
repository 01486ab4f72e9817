"""What torch says of CUDA graphs is heard where torch says it, also on a machine that has no GPU."""

from __future__ import annotations

import inspect
import json
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch._inductor.cudagraph_utils", reason="torch says this of CUDA graphs from 2.4 on")

import torch
from torch._inductor import cudagraph_trees, cudagraph_utils

import depyf
from depyf.model.index_reader import read_run
from depyf.torch.adapters.cuda_graphs import LOGS, CudaGraphLogs

RECORDING = "[%s] Recording function=%s, mode=%s, cuda_graph_id=%d, inputs: %s"
AGAIN = "[%s] Re-recording function=%s, mode=%s, reason=%s"
SIZES = "[%s] Recording cudagraph tree for symint key %s"
TREES = torch._logging.getArtifactLogger(*LOGS[-1])


@pytest.fixture(autouse=True)
def _reset() -> None:
    torch._dynamo.reset()


def first_compile(directory: Path) -> dict[str, Any]:
    index = json.loads((directory / "index.json").read_text())
    assert not index["problems"]
    compiled: dict[str, Any] = index["functions"][0]["compiles"][0]
    return compiled


def compiled_with(say: Callable[[Any], None], directory: Path) -> dict[str, Any]:
    """Return what is told of a compile whose backend says something of CUDA graphs."""

    def backend(module: Any, inputs: Any) -> Any:
        say(module)
        return module.forward

    def function(x: torch.Tensor) -> torch.Tensor:
        return x.add_(1) * 2

    with depyf.prepare_debug(str(directory)):
        torch.compile(function, backend=backend)(torch.ones(4))
    return first_compile(directory)


def test_a_skip_is_told_with_torchs_reason_and_the_line(tmp_path: Path) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.sin()  # the line that computes on the CPU

    with depyf.prepare_debug(str(tmp_path)):
        torch.compile(function, backend="cudagraphs")(torch.ones(4))
    (event,) = first_compile(tmp_path)["cuda_graphs"]
    lines, first = inspect.getsourcelines(function)
    assert (event["event"], event["reason"].partition(" (")[0]) == ("skipped", "cpu device")
    assert event["where"]["line"] == first + 1 and "the line" in lines[1]
    (finding,) = (entry for entry in json.loads((tmp_path / "index.json").read_text())["findings"])
    assert finding["kind"] == "cuda-graph-skipped" and finding["where"]["line"] == first + 1
    assert f"runs without a CUDA graph: {event['reason']}" in finding["cause"]
    assert f"skipped: {event['reason']}" in (tmp_path / "index.md").read_text()
    ((_, compiled),) = read_run(tmp_path).session.compiles()
    (read,) = compiled.cuda_graphs
    assert read.reason == event["reason"] and read.place is not None and read.place[1] == first + 1


@pytest.mark.skipif(
    not hasattr(cudagraph_utils, "get_placeholder_info"), reason="this torch keeps such placeholders otherwise"
)
def test_a_change_of_an_input_is_told_once_though_torch_says_it_twice(tmp_path: Path) -> None:
    def say(module: Any) -> None:
        placeholders = cudagraph_utils.get_placeholder_info(module.graph)
        text = cudagraph_utils.get_mutation_stack_trace(placeholders, [0])
        cudagraph_utils.log_cudagraph_skip_and_bump_counter(text)
        assert "Found from" in text

    (event,) = compiled_with(say, tmp_path)["cuda_graphs"]
    assert (event["event"], event["reason"]) == ("skipped", "mutated inputs (1 instances)")
    assert event["where"]["function"] == "function"


def test_reasons_in_a_list_are_told_in_words(tmp_path: Path) -> None:
    def say(module: Any) -> None:
        reasons = ["mutated inputs", "non-Tensor inputs"]
        cudagraph_utils.log_cudagraph_skip_and_bump_counter(f"skipping cudagraphs due to {reasons}")

    (event,) = compiled_with(say, tmp_path)["cuda_graphs"]
    assert event["reason"] == "mutated inputs, non-Tensor inputs"


@pytest.mark.skipif(
    any(text not in inspect.getsource(cudagraph_trees) for text in (RECORDING, AGAIN, SIZES)),
    reason="this torch says it in other words",
)
def test_recordings_are_told_with_why_there_is_another(tmp_path: Path) -> None:
    def say(module: Any) -> None:
        placeholders = cudagraph_utils.get_placeholder_info(module.graph)
        mismatch = cudagraph_utils.CheckInvariantStatus.StaticInputIdxMismatch
        moved = cudagraph_utils.log_data_ptr_mismatch(placeholders, [torch.ones(4)], [1], [0], mismatch)
        for line, *args in (
            (SIZES, "(8,)"),
            (SIZES, "(16,)"),
            (RECORDING, "g", "FORWARD", 0, "[0]: Tensor(size=[4])"),
            (AGAIN, "g", "FORWARD", moved),
            (RECORDING, "g", "BACKWARD", 1, "[]"),
        ):
            cudagraph_trees.log.debug(line, "0/0", *args)

    events = compiled_with(say, tmp_path)["cuda_graphs"]
    assert [(event["event"], event["part"]) for event in events] == [
        ("sizes", ""),
        ("sizes", ""),
        ("recorded", "forward"),
        ("recorded again", "forward"),
        ("recorded", "backward"),
    ]
    assert events[3]["reason"].startswith("static input data pointer changed (") and "x" in events[3]["reason"]
    assert not any(character.isdigit() for character in events[3]["reason"].partition("(")[0])
    kinds = [finding["kind"] for finding in json.loads((tmp_path / "index.json").read_text())["findings"]]
    assert kinds == ["cuda-graph-recorded-again", "cuda-graph-sizes"]


def test_what_a_graph_says_while_it_runs_is_of_its_own_compile(tmp_path: Path) -> None:
    if "self.compile_id" not in inspect.getsource(cudagraph_trees):
        pytest.skip("this torch does not say whose CUDA graph it records")

    class Trees:
        """Knows what torch's own manager of recorded graphs does: which compile a function is of, and its part."""

        compile_id = torch._guards.CompileId(frame_id=0, frame_compile_id=0)
        id_to_mode = {7: cudagraph_trees.CompilationMode.BACKWARD}

        def run(self, function_id: int) -> None:
            text = "skipping cudagraphs due to mutated inputs (2 instances)"
            cudagraph_utils.log_cudagraph_skip_and_bump_counter(text)

    with depyf.prepare_debug(str(tmp_path)):
        torch.compile(lambda x: x.sin(), backend="eager")(torch.ones(4))
        Trees().run(7)
    (event,) = first_compile(tmp_path)["cuda_graphs"]
    assert (event["part"], event["reason"]) == ("backward", "mutated inputs (2 instances)")


def test_torchs_loggers_are_left_as_they_were(caplog: pytest.LogCaptureFixture) -> None:
    logs = [torch._logging.getArtifactLogger(*names) for names in LOGS]
    before = [dict(vars(log)) for log in logs]
    heard: list[str] = []
    watched = CudaGraphLogs(lambda line, about, part: heard.append(line))
    watched.look_for_loggers()
    with caplog.at_level(logging.WARNING):
        log = cudagraph_trees.log
        assert log.isEnabledFor(logging.DEBUG), "torch tells why it records again only where somebody asks"
        log.debug("%s is heard and goes no further", "this")
        log.warning("this goes on")
    assert [dict(vars(record)) | {"_cache": 0} for record in logs] == [fields | {"_cache": 0} for fields in before]
    assert not TREES.isEnabledFor(logging.DEBUG)
    watched.end()
    assert heard == ["this is heard and goes no further", "this goes on"]
    assert not any("no further" in record.getMessage() for record in caplog.records)
    assert [dict(vars(record)) | {"_cache": 0} for record in logs] == [fields | {"_cache": 0} for fields in before]
    assert cudagraph_trees.log is TREES


def test_a_log_that_nobody_has_made_is_not_made(tmp_path: Path) -> None:
    code = f"""
import logging, torch, depyf
compiled = torch.compile(lambda x: x + 1, backend="eager")
with depyf.prepare_debug({str(tmp_path)!r}) as session:
    compiled(torch.ones(3))
    assert "torch._inductor.cudagraph_trees.__cudagraphs" not in logging.Logger.manager.loggerDict
    from torch._inductor import cudagraph_trees
    compiled(torch.ones(4))
    assert cudagraph_trees.log.isEnabledFor(logging.DEBUG), "it is heard from when it was made"
assert cudagraph_trees.log is logging.getLogger("torch._inductor.cudagraph_trees.__cudagraphs")
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
