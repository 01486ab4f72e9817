"""Every fact that torch writes about a run is in `index.json` and on the page: a list of them, one record each."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click", reason="the command line needs click")
pytest.importorskip("jinja2", reason="the report needs jinja2")

from click.testing import CliRunner

from depyf.cli.commands import depyf
from depyf.views.html.chunks import read_script

DATA = Path(__file__).parent / "data"
IDS = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
GRAPH = """class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4]"):
         # File: model.py:7 in step, code: y = x.sin()
        sin: "f32[4]" = torch.ops.aten.sin.default(x);  x = None
        return (sin,)
"""
EXPORTED = "ExportedProgram:\n    " + GRAPH.replace("\n", "\n    ")
USER_STACK = [{"line": 7, "name": "step", "filename": 1, "loc": "y = x.sin()"}]
SHAPE = {"expr": "Eq(s0, 3)", "result": "True", "user_stack": USER_STACK}
METRICS = {"co_name": "step", "co_filename": "model.py", "co_firstlineno": 6, "graph_op_count": 1, "guard_count": 9}
METRICS |= {"restart_reasons": ["called a plugh"], "entire_frame_compile_time_s": 1.5, "inductor_compile_time_s": 0.25}


def artifact(name: str, payload: object, **ids: int) -> tuple[dict[str, Any], str]:
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return {"artifact": {"name": name, "encoding": "string" if isinstance(payload, str) else "json"}, **ids}, text


CACHE = {
    "key": "fkey",
    "components": ["[xyzzy] torch.version: 2"],
    "cache_state": "miss",
    "cache_bypass_reason": "a waldo",
}
RECORDS: list[tuple[dict[str, Any], str | None]] = [
    ({"str": ["train.py", 0]}, None),
    ({"str": ["model.py", 1]}, None),
    (
        {
            "dynamo_start": {
                "stack": [
                    {"line": 3, "name": "main", "filename": 0, "loc": "model(x)"},
                    {"line": 6, "name": "step", "filename": 1},
                ]
            },
            **IDS,
        },
        None,
    ),
    ({"dynamo_output_graph": {"sizes": {}}, **IDS, "attempt": 1}, GRAPH),
    ({"guard_added": SHAPE, **IDS, "attempt": 1}, None),
    (
        {
            "symbolic_shape_specialization": {"symbol": "s7", "value": "5", "user_stack": USER_STACK},
            **IDS,
            "attempt": 1,
        },
        None,
    ),
    artifact("fx_graph_cache_miss", CACHE, **IDS),
    artifact("aotautograd_cache_bypass", CACHE, **IDS),
    artifact("inductor_provenance_tracking_node_mappings", {"preToPost": {"sin": ["quux_node"]}}, **IDS),
    artifact("inductor_collective_schedule", ["torch.ops._c10d_functional.all_reduce_.default"], **IDS),
    artifact("inductor_runtime_and_tensor_meta", {"ops": [{"name": "op9", "estimated_runtime_ns": 4711}]}, **IDS),
    artifact("inductor_tlparse_tensor_meta", {"ops": [{"name": "op8", "shape": [4, 8]}]}, **IDS),
    artifact("my_own_artefact", "a grault of mine", **IDS),
    ({"compilation_metrics": METRICS, **IDS}, None),
    ({"dynamo_start": {"stack": [{"line": 30, "name": "never", "filename": 1}]}, **IDS, "frame_id": 1}, None),
    (
        {
            "compilation_metrics": METRICS
            | {"co_name": "never", "co_firstlineno": 30, "fail_type": "Unsupported", "fail_reason": "no such garply"},
            **IDS,
            "frame_id": 1,
        },
        None,
    ),
    ({"exported_program": {}}, EXPORTED),
    ({"missing_fake_kernel": {"op": "corge::fred", "reason": "no fake kernel"}}, None),
    ({"propagate_real_tensors_provenance": {"expr": "u0 >= 5", "result": "True", "user_stack": USER_STACK}}, None),
    artifact("graph_execution", {"graph_execution_order": [{"compile_id": "0/0", "phase": "thud"}]}),
]

Has = Callable[[dict[str, Any]], bool]
FACTS: dict[str, tuple[Has, str]] = {
    "compile ids": (lambda step: step["id"] == "0/0", "0/0"),
    "the stack of calls": (lambda step: step["called_from"][0]["function"] == "main", "model(x)"),
    "metrics": (lambda step: step["metrics"]["graph_op_count"] == 1, "inductor_compile_time_s"),
    "times": (lambda step: step["seconds"]["total"] == 1.5, "1.5 s"),
    "restarts": (lambda step: step["attempts"] == 2, "called a plugh"),
    "cache misses": (lambda step: step["caches"][0]["outcome"] == "miss", "fx_graph"),
    "cache bypasses": (lambda step: step["caches"][1]["reason"] == "a waldo", "bypass"),
    "components of the key": (lambda step: step["caches"][0]["file"] != "", "xyzzy"),
    "guards added": (lambda step: step["shapes"][0]["expression"] == "Eq(s0, 3)", "Eq(s0, 3)"),
    "specializations": (lambda step: step["shapes"][1]["expression"] == "s7", "s7 = 5"),
    "graphs": (lambda step: step["artefacts"][0]["stage"] == "Captured_Graph", "torch.ops.aten.sin.default"),
    # The page shows it as links between the lines of the texts: tests/views and tests/links have these.
    "provenance": (lambda step: _stage(step, "inductor_provenance_tracking_node_mappings"), ""),
    "collectives' schedule": (lambda step: _stage(step, "inductor_collective_schedule"), "all_reduce_"),
    "runtime estimates": (lambda step: _stage(step, "inductor_runtime_and_tensor_meta"), "4711"),
    "tensor metadata": (lambda step: _stage(step, "inductor_tlparse_tensor_meta"), "op8"),
    "custom artefacts": (lambda step: _stage(step, "my_own_artefact"), "a grault of mine"),
}
OUTSIDE: dict[str, tuple[Has, str]] = {
    "failures": (lambda index: index["functions"][1]["compiles"][0]["failure"]["kind"] == "Unsupported", "garply"),
    "exported programs": (lambda index: _stage(index, "exported_program", "outside"), "ExportedProgram:"),
    "export reports: kernels": (lambda index: index["shapes"][0]["expression"] == "corge::fred", "corge::fred"),
    "export reports: guesses": (lambda index: index["shapes"][1]["expression"] == "u0 >= 5", "u0 &gt;= 5"),
    "execution order": (lambda index: _stage(index, "graph_execution", "outside"), "thud"),
    "the source": (lambda index: index["sources"][0]["file"] == "model.py", "y = x.sin()"),
}


def _stage(content: dict[str, Any], stage: str, where: str = "artefacts") -> bool:
    return any(artefact["stage"] == stage and artefact["file"] for artefact in content[where])


def written(records: list[tuple[dict[str, Any], str | None]]) -> bytes:
    lines = []
    for metadata, payload in records:
        digest = {} if payload is None else {"has_payload": hashlib.md5(payload.encode()).hexdigest()}
        lines.append(f"V0718 15:30:01.875000 42 torch/x.py:1] {json.dumps(metadata | digest)}")
        lines += [] if payload is None else [f"\t{line}" for line in payload.split("\n")]
    return ("\n".join(lines) + "\n").encode()


def shown(directory: Path) -> str:
    """Return all that the page shows: its own text, and the data that it loads."""
    scripts = sorted((directory / "report" / "data").glob("*.js"))
    loaded = [json.dumps(read_script(script.read_text(encoding="utf-8"))) for script in scripts]
    return "\n".join([(directory / "report" / "index.html").read_text(encoding="utf-8"), *loaded])


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    folder = tmp_path_factory.mktemp("facts")
    (folder / "trace.log.gz").write_bytes(gzip.compress(written(RECORDS)))
    result = CliRunner().invoke(depyf, ["report", str(folder / "trace.log.gz"), "-o", str(folder / "out")])
    assert result.exit_code == 0, result.output
    index = json.loads((folder / "out" / "index.json").read_text())
    assert index["trace"]["omitted"] == {}
    return index, shown(folder / "out")


@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_of_a_compile_is_in_the_index_and_on_the_page(fact: str, report: tuple[dict[str, Any], str]) -> None:
    index, page = report
    is_told, words = FACTS[fact]
    assert is_told(index["functions"][0]["compiles"][0]) and words in page


@pytest.mark.parametrize("fact", OUTSIDE)
def test_a_fact_outside_of_compiles_is_in_the_index_and_on_the_page(
    fact: str, report: tuple[dict[str, Any], str]
) -> None:
    index, page = report
    is_told, words = OUTSIDE[fact]
    assert is_told(index) and words in page


def test_lines_of_an_exported_program_are_linked_to_the_users() -> None:
    from depyf.links.graphs import graph_links

    assert [origins for origins in graph_links(EXPORTED, {}).lines.values() if origins] == [
        frozenset({("model.py", 7)})
    ] * len(graph_links(EXPORTED, {}).lines)
