"""What a trace says of CUDA graphs: reasons in the metrics of compiles, recordings in the timeline."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from depyf.findings import findings
from depyf.model.cuda_graphs import AGAIN, RECORDED, SIZES, SKIPPED, CudaGraph, words
from depyf.model.run import Compile
from depyf.trace.cuda_graphs import of_log
from depyf.trace.job.dumping import dump_trace
from tests.trace.test_facts import IDS, METRICS, written

CPU = """skipping cudagraphs due to skipping cudagraphs due to cpu device (arg0_1). Found from : \n\
   File "train.py", line 3, in main
    step(x)
   File "model.py", line 7, in step
    y = x.cpu()

"""
INCOMPATIBLE = """skipping cudagraphs due to disabling cudagraphs due to incompatible op aten.nonzero.default Found \
from \
  File "model.py", line 9, in step
    return x[x > 0]
"""
MOVED = """[0/0] Re-recording function=compiled_fn, mode=BACKWARD, reason=cudagraph managed tensor data pointer changed.
input name: primals_1. data pointer changed from 140 to 141. input stack trace:   File "model.py", line 7, in step
    y = x.sin()

input name: primals_2. data pointer changed from 142 to 143. input stack trace:   File "model.py", line 8, in step
    z = y.sin()

"""
LIMIT = """skipping cudagraph due to function 3 exceeding max re-recording limit (=50) on cudagraph node 2 due to \
static input data pointer changed.
input name: primals_1. data pointer changed from 140 to 141. input stack trace: None
."""

SEVERAL = CudaGraph(SKIPPED, "", "multiple devices: cuda:0, cuda:1")

LINES = {
    CPU: CudaGraph(SKIPPED, "", "cpu device (arg0_1)", ("model.py", 7, "step")),
    INCOMPATIBLE: CudaGraph(SKIPPED, "", "incompatible op aten.nonzero.default", ("model.py", 9, "step")),
    MOVED: CudaGraph(
        AGAIN,
        "backward",
        "cudagraph managed tensor data pointer changed (primals_1, primals_2)",
        ("model.py", 7, "step"),
    ),
    LIMIT: CudaGraph(
        SKIPPED,
        "",
        "function 3 exceeding max re-recording limit (=50) on cudagraph node 2 due to static input data pointer changed"
        " (primals_1)",
    ),
    "skipping cudagraphs due to multiple devices: device(type='cuda', index=0), device(type='cuda', index=1)": SEVERAL,
    "skipping cudagraphs due to graph with symbolic shapes inputs and config.triton.cudagraph_skip_dynamic_graphs=True."
    "\n": CudaGraph(
        SKIPPED, "", "graph with symbolic shapes inputs and config.triton.cudagraph_skip_dynamic_graphs=True"
    ),
    "disabling cudagraphs for backward due to override_cudagraphs annotation": CudaGraph(
        SKIPPED, "backward", "override_cudagraphs annotation"
    ),
    "[0/0] Recording function=g, mode=FORWARD, cuda_graph_id=1, inputs: []": CudaGraph(RECORDED, "forward"),
    "Recording function 2 of graph recording id 1": CudaGraph(RECORDED),
    "[0/0] Recording function=unknown, cuda_graph_id=0, inputs: [[], Tensor(...)]": CudaGraph(RECORDED),
    "[1/0] Re-recording function=compiled_fn, reason=static input data pointer changed.": CudaGraph(
        AGAIN, "", "static input data pointer changed"
    ),
    "recording cudagraph tree for symint key (8, 3)": CudaGraph(SIZES, "", "(8, 3)"),
    "[0/0] Recording cudagraph tree for graph without symints": None,
    "[0/0] Running warmup function=g, mode=FORWARD": None,
    "Checkpointing cuda caching allocator state. Number of checkpoints 1": None,
}


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.strip()[:60])
def test_a_line_of_the_log_is_read(line: str) -> None:
    assert of_log(line) == LINES[line]


def test_a_recording_that_the_trace_cuts_off_is_not_told(tmp_path: Path) -> None:
    metrics = ({"compilation_metrics": METRICS, **IDS}, None)
    assert not compiled(metrics, moment("B", 1.0, is_backward=False), directory=tmp_path).cuda_graphs


def moment(phase: str, seconds: float, *, is_backward: bool, name: str = "CUDAGraphNode.record") -> tuple[Any, str]:
    args = {"is_backward": is_backward, "compile_id": "0/0"}
    event = {"name": name, "ts": seconds * 1e6, "args": args, "ph": phase, "cat": "dynamo_timed", "tid": 0, "pid": 0}
    return {"chromium_event": {}}, json.dumps(event, indent=0)


START = {"dynamo_start": {"stack": [{"line": 6, "name": "step", "filename": 0}]}, **IDS}


def compiled(*records: tuple[Any, str | None], directory: Path) -> Compile:
    trace = written([({"str": ["model.py", 0]}, None), (START, None), *records])
    (session,) = dump_trace(io.BytesIO(trace), "trace.log", directory)
    assert session.trace is not None and not session.trace.omitted
    ((_, read_compile),) = session.compiles()
    return read_compile


def test_the_metrics_of_a_trace_say_why_a_graph_was_skipped(tmp_path: Path) -> None:
    skipped = {**METRICS, "cudagraph_skip_reason": CPU}
    backward = {"cudagraph_skip_reason": "skipping cudagraphs due to mutated inputs (1 instances)"}
    records = [({"compilation_metrics": skipped, **IDS}, None), ({"bwd_compilation_metrics": backward, **IDS}, None)]
    compile_ = compiled(*records, directory=tmp_path)
    assert compile_.cuda_graphs == [LINES[CPU], CudaGraph(SKIPPED, "backward", "mutated inputs (1 instances)")]
    index = json.loads((tmp_path / "index.json").read_text())
    assert [(finding["kind"], finding["cause"]) for finding in index["findings"]] == [
        ("cuda-graph-skipped", "`step` runs without a CUDA graph: cpu device (arg0_1)"),
        ("cuda-graph-skipped", "The backward of `step` runs without a CUDA graph: mutated inputs (1 instances)"),
    ]
    assert [finding["where"]["line"] for finding in index["findings"]] == [7, 6]


def test_the_timeline_says_what_was_recorded_and_for_how_long(tmp_path: Path) -> None:
    records = [
        ({"compilation_metrics": METRICS, **IDS}, None),
        *(moment(phase, at, is_backward=False) for phase, at in (("B", 1.0), ("E", 1.25), ("B", 3.0), ("E", 3.5))),
        moment("B", 4.0, is_backward=True),
        moment("E", 4.5, is_backward=True),
        moment("B", 5.0, is_backward=False, name="cudagraphify.get_container"),
        moment("B", 9.0, is_backward=False),
    ]
    compile_ = compiled(*records, directory=tmp_path)
    assert [(cuda_graph.event, cuda_graph.part, cuda_graph.seconds) for cuda_graph in compile_.cuda_graphs] == [
        (RECORDED, "forward", 0.25),
        (RECORDED, "forward", 0.5),
        (RECORDED, "backward", 0.5),
    ]
    said = "forward recorded 2 times (0.750 s); backward recorded (0.500 s)"
    assert "; ".join(words(compile_.cuda_graphs)) == said
    assert said in (tmp_path / "index.md").read_text()


def test_a_compile_without_cuda_graphs_has_no_finding_of_them(tmp_path: Path) -> None:
    metrics = {**METRICS, "cudagraph_skip_reason": None}
    compile_ = compiled(({"compilation_metrics": metrics, **IDS}, None), directory=tmp_path)
    assert not compile_.cuda_graphs and "CUDA graphs" not in (tmp_path / "index.md").read_text()


def test_findings_of_one_cause_are_joined(tmp_path: Path) -> None:
    skipped = {**METRICS, "cudagraph_skip_reason": CPU}
    again = {**IDS, "frame_compile_id": 1}
    trace = written(
        [
            ({"str": ["model.py", 0]}, None),
            *((({**START, **ids}), None) for ids in (IDS,)),
            ({"compilation_metrics": skipped, **IDS}, None),
            ({**START, **again}, None),
            ({"compilation_metrics": skipped, **again}, None),
        ]
    )
    (session,) = dump_trace(io.BytesIO(trace), "trace.log", tmp_path)
    (finding,) = (candidate for candidate in findings(session) if candidate.kind == "cuda-graph-skipped")
    assert finding.compiles == ("0/0", "0/1")
