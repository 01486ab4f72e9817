"""The report of trace files, which no torch is needed for."""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from depyf.cli.commands import depyf
from depyf.findings.cache_misses.key import read_record

DATA = Path(__file__).parent / "data"
RELEASES = ("2.6", "2.9", "2.13", "2.15")


def report(*paths: Path | str, output: Path, options: tuple[str, ...] = ()) -> Path:
    result = CliRunner().invoke(depyf, ["report", *map(str, paths), "-o", str(output), *options])
    assert result.exit_code == 0, result.output
    return output


def index(directory: Path) -> dict:
    return json.loads((directory / "index.json").read_text())


@pytest.mark.parametrize("release", RELEASES)
def test_a_trace_of_each_release_tells_the_same_story(release: str, tmp_path: Path) -> None:
    content = index(report(DATA / f"small_{release}.log.gz", output=tmp_path / "out"))
    assert [function["name"] for function in content["functions"]] == ["step", "loss", "never"]
    step, _, never = content["functions"]
    assert [compiled["trigger"]["kind"] for compiled in step["compiles"]] == ["first call", "recompile", "recompile"]
    clauses = [refused["clauses"][0] for refused in step["compiles"][1]["trigger"]["entries"]]
    assert "size mismatch at index 0. expected 4, actual 5" in clauses[0]
    assert step["compiles"][0]["breaks"][0]["where"]["line"] == 18
    assert step["resume_functions"][0]["compiles"][0]["trigger"] == {"kind": "resume", "caller": "0/0", "offset": None}
    assert never["compiles"][0]["failure"]["kind"] == "BackendCompilerFailed"
    assert content["trace"]["omitted"] == {}


def test_the_last_caller_is_read_from_a_stack_inside_of_the_compile(tmp_path: Path) -> None:
    step, loss, _ = index(report(DATA / "small_2.13.log.gz", output=tmp_path / "out"))["functions"]
    callers = [
        [(frame["line"], frame["function"]) for frame in compiled["called_from"]] for compiled in step["compiles"]
    ]
    assert callers == [[(36, "<module>")], [(37, "<module>")], [(38, "<module>")]]
    # Torch leaves the caller out where it begins, and no stack of this one is printed.
    assert loss["compiles"][0]["called_from"] == []


def test_a_look_into_a_cache_is_told(tmp_path: Path) -> None:
    cold = report(DATA / "small_2.13_inductor.log.gz", output=tmp_path / "cold")
    warm = report(DATA / "small_2.13_inductor_warm.log.gz", output=tmp_path / "warm")
    missed, hit = (index(path)["functions"][0]["compiles"][0]["caches"] for path in (cold, warm))
    assert {(event["cache"], event["outcome"]) for event in missed} == {("fx_graph", "miss"), ("aotautograd", "miss")}
    assert {(event["cache"], event["outcome"]) for event in hit} == {("fx_graph", "hit"), ("aotautograd", "hit")}
    keys = [{event["cache"]: event["key"] for event in events} for events in (missed, hit)]
    assert keys[0] == keys[1]
    parts = read_record(
        (cold / next(event["file"] for event in missed if event["cache"] == "fx_graph")).read_text()
    ).parts
    assert "gm" in parts and len(parts) > 100


@pytest.mark.parametrize(
    ("name", "outcome"), [("put_local_code_state", "miss"), ("get_local_code_state", "hit"), ("get_other", None)]
)
def test_sizes_that_an_earlier_run_left_are_told(name: str, outcome: str | None, tmp_path: Path) -> None:
    rows = gzip.decompress((DATA / "small_2.13.log.gz").read_bytes()).decode().splitlines(keepends=True)
    at = next(number for number, row in enumerate(rows) if '"compilation_metrics"' in row)
    payload = "hash(1)step.py:2:step:\n  L['x']: tensor size=[?] stride=[1]"
    metadata = {"artifact": {"name": name, "encoding": "string"}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    metadata["has_payload"] = hashlib.md5(payload.encode(), usedforsecurity=False).hexdigest()
    indented = "".join(f"\t{row}\n" for row in payload.splitlines())
    trace = "".join((*rows[:at], f"{rows[at].partition('{')[0]}{json.dumps(metadata)}\n", indented, *rows[at:]))
    (tmp_path / "job.log").write_text(trace, encoding="utf-8")
    content = index(report(tmp_path / "job.log", output=tmp_path / "out"))
    caches = [function for function in content["functions"][0]["compiles"][0]["caches"] if function["cache"] == "pgo"]
    assert [event["outcome"] for event in caches] == ([outcome] if outcome else [])


def test_the_page_shows_what_the_trace_tells(tmp_path: Path) -> None:
    output = report(DATA / "small_2.13.log.gz", output=tmp_path / "out")
    page = (output / "report" / "index.html").read_text()
    assert "small_2.13.log.gz" in page and ">step<" in page
    graphs = sorted(path.name for path in output.glob("graph_*.Captured_Graph.0.py"))
    assert len(graphs) == 7


def test_no_torch_is_imported(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom depyf.cli.commands import depyf\n"
        f"depyf(['report', {str(DATA / 'small_2.6.log.gz')!r}, '-o', {str(tmp_path / 'out')!r}],"
        "standalone_mode=False)\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_ranks_are_grouped_and_what_differs_is_named(tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    text = gzip.decompress((DATA / "small_2.13.log.gz").read_bytes())
    other = text.split(b"recompile_reasons")[0].rpartition(b"\n")[0]
    for rank in (0, 1, 2, 4):
        rank_text = other if rank == 2 else text
        (traces / f"dedicated_log_torch_trace_rank_{rank}_x.log").write_bytes(rank_text + b"\n")
    output = report(traces, output=tmp_path / "out")
    job = json.loads((output / "ranks.json").read_text())
    assert [(group["ranks"], group["folder"]) for group in job["groups"]] == [("0-1, 4", "rank_0"), ("2", "rank_2")]
    assert {(divergence["kind"], divergence["ranks"]) for divergence in job["divergences"]} >= {
        ("missing rank", "3"),
        ("stopped", "2"),
    }
    assert "no trace of rank 3" in (output / "report" / "index.html").read_text()


def test_a_directory_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    result = CliRunner().invoke(depyf, ["report", str(DATA / "small_2.6.log.gz"), "-o", str(tmp_path)])
    assert result.exit_code == 2 and (tmp_path / "thesis.tex").read_text() == "mine"


def test_a_remote_trace_is_read(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://job/rank_0.log.gz", "wb") as file:
        file.write((DATA / "small_2.6.log.gz").read_bytes())
    assert len(index(report("memory://job/rank_0.log.gz", output=tmp_path / "out"))["order"]) == 7


def test_a_timeline_is_written(tmp_path: Path) -> None:
    report(DATA / "small_2.13.log.gz", output=tmp_path / "out", options=("--perfetto", str(tmp_path / "time.json")))
    events = json.loads((tmp_path / "time.json").read_text())["traceEvents"]
    assert {event["ph"] for event in events} >= {"M", "B", "E", "i"}
    assert all(isinstance(event["ts"], (int, float)) for event in events if event["ph"] != "M")
