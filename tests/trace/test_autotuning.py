"""What a trace says of tuning: configurations and times of kernels, and choices between templates and libraries."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click", reason="the command line needs click")
pytest.importorskip("jinja2", reason="the report needs jinja2")

from click.testing import CliRunner

from depyf.cli.commands import depyf
from depyf.model.tuning import Tuned, choices, tuned
from depyf.views.html.process import processes
from tests.trace.test_facts import GRAPH, IDS, METRICS, artifact, written

MODULE = """# AOT ID: ['0_inference']
triton_poi_fused_sin_0 = async_compile.triton('triton_poi_fused_sin_0', '''
def triton_poi_fused_sin_0(in_ptr0, out_ptr0): pass
''')
triton_tem_fused_mm_1 = async_compile.triton('triton_tem_fused_mm_1', '''
def triton_tem_fused_mm_1(in_ptr0, out_ptr0): pass
''')
def call(args):
    triton_poi_fused_sin_0.run(arg0_1, buf0, stream=stream0)
    triton_tem_fused_mm_1.run(buf0, buf1, stream=stream0)
"""
INFO = {
    "triton_poi_fused_sin_0": {"autotune_cache_state": "miss", "num_configs": 2, "compile_time_us": 181999},
    "triton_tem_fused_mm_1": {
        "autotune_cache_state": "only 1 config",
        "only_config": [["XBLOCK", 128], ["num_warps", 4], ["num_stages", 1]],
        "compile_time_us": 22357,
    },
}
STATS = {
    "num_choices": 20,
    "num_triton_choices": 19,
    "best_kernel": "mm",
    "best_time": 0.00512,
    "best_triton_pos": 1,
    "best_triton_time": 0.0061,
    "best_triton_kernel": "triton_mm_4",
    "best_triton_kernel_desc": "BLOCK_M=32, BLOCK_N=32",
}


def event(phase: str, name: str, seconds: float, **args: Any) -> tuple[Any, str]:
    clock_event = {
        "name": name,
        "ts": seconds * 1e6,
        "args": {**args, "compile_id": "0/0"},
        "ph": phase,
        "tid": 0,
        "pid": 0,
    }
    return {"chromium_event": {}}, json.dumps(clock_event)


def timed(name: str, begin: float, end: float, **args: Any) -> list[tuple[Any, str]]:
    return [event("B", name, begin, **{key: args[key] for key in args if key != "autotune_choices_stats"}),
            event("E", name, end, **args)]  # fmt: skip


START = {"dynamo_start": {"stack": [{"line": 6, "name": "step", "filename": 0}]}, **IDS}
CHOICE = {"autotune_shape": "16x32, 32x16", "autotune_choices_stats": json.dumps(STATS)}
RECORDS: list[tuple[dict[str, Any], str | None]] = [
    ({"str": ["model.py", 0]}, None),
    (START, None),
    ({"dynamo_output_graph": {"sizes": {}}, **IDS}, GRAPH),
    *timed("mm_template_autotuning", 1.0, 3.5, **CHOICE),
    *timed("Scheduler.codegen", 4.0, 5.0),
    ({"inductor_output_code": {"filename": "m.py"}, **IDS}, MODULE),
    artifact("triton_kernel_info", INFO, **IDS),
    ({"compilation_metrics": METRICS, **IDS}, None),
    # A kernel is tuned when it first runs, with the compile long over.
    *timed("CachingAutotuner.benchmark_all_configs", 6.0, 6.25, kernel_name="triton_poi_fused_sin_0"),
    *timed("CachingAutotuner.coordinate_descent_tuning", 7.0, 7.5, kernel_name="triton_poi_fused_sin_0"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tuning")
    (folder / "trace.log.gz").write_bytes(gzip.compress(written(RECORDS)))
    result = CliRunner().invoke(depyf, ["report", str(folder / "trace.log.gz"), "-o", str(folder / "out")])
    assert result.exit_code == 0, result.output
    assert json.loads((folder / "out" / "index.json").read_text())["trace"]["omitted"] == {}
    return folder / "out"


def test_the_index_of_kernels_has_configurations_and_times(report: Path) -> None:
    (process,) = processes(report, 0.0)
    rows = {row.name: row.tuned for row in process.kernels}
    assert rows == {
        "triton_poi_fused_sin_0": Tuned("miss", 2, "", 0.181999, 0.75),
        "triton_tem_fused_mm_1": Tuned("only 1 config", 1, "XBLOCK 128, num_warps 4, num_stages 1", 0.022357, None),
    }
    page = (report / "report" / "index.html").read_text()
    assert "<td>XBLOCK 128, num_warps 4, num_stages 1</td>" in page and '<td class="num">0.75</td>' in page


def test_a_choice_between_templates_and_a_library_is_shown(report: Path) -> None:
    (process,) = processes(report, 0.0)
    ((row,), page) = process.choices, (report / "report" / "index.html").read_text()
    choice = row.choice
    assert (row.function, row.compile, choice.operation, choice.shapes) == ("step", "0/0", "mm", "16x32, 32x16")
    assert (choice.tried, choice.best, choice.milliseconds, choice.seconds) == (20, "mm", 0.00512, 2.5)
    assert (choice.triton, choice.triton_milliseconds) == ("triton_mm_4", 0.0061)
    assert "Kernels that torch chose" in page and "<code>triton_mm_4</code>" in page and "0.0051" in page


def test_a_run_without_tuning_has_no_columns_of_it(tmp_path: Path) -> None:
    kept = [record for record in RECORDS if "chromium_event" not in record[0] and record[1] != json.dumps(INFO)]
    (tmp_path / "trace.log").write_bytes(written(kept))
    result = CliRunner().invoke(depyf, ["report", str(tmp_path / "trace.log"), "-o", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    page = (tmp_path / "out" / "report" / "index.html").read_text()
    assert "triton_poi_fused_sin_0" in page
    assert "configurations</th>" not in page and "Kernels that torch chose" not in page


def test_a_template_that_won_is_the_best_of_triton_too() -> None:
    stats = {"num_choices": 3, "best_kernel": "triton_mm_1", "best_time": 0.5, "best_triton_pos": 0}
    (choice,) = choices([json.dumps({"choices": [{"operation": "mm", "seconds": 1.0, "stats": json.dumps(stats)}]})])
    assert (choice.best, choice.triton, choice.triton_milliseconds) == ("triton_mm_1", "triton_mm_1", 0.5)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"k": 3}', '{"kernels": 3, "choices": {}}', '{"choices": [1]}'])
def test_texts_that_say_nothing_are_nothing(text: str) -> None:
    assert not tuned([text], []) or text == '{"kernels": 3, "choices": {}}'
    assert not tuned([], [text]) and not choices([text])
