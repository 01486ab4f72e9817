"""The timeline: events as the format of Chrome's tracing has them, phases nested, and findings as instants."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click", reason="the command line needs click")
pytest.importorskip("jinja2", reason="the report needs jinja2")
pytest.importorskip("jsonschema", reason="the events are checked against a schema")

import jsonschema
from click.testing import CliRunner

from depyf.cli.commands import depyf

DATA = Path(__file__).parent / "data"
NUMBER = {"type": "number"}
COMMON = {
    "name": {"type": "string"},
    "pid": {"type": "integer"},
    "tid": {"type": "integer"},
    "args": {"type": "object"},
}
EVENT = {
    "type": "object",
    "required": ["name", "ph", "pid", "tid"],
    "properties": COMMON,
    "oneOf": [
        {"properties": {"ph": {"enum": ["B", "E"]}, "ts": NUMBER}, "required": ["ts"]},
        {
            "properties": {"ph": {"const": "X"}, "ts": NUMBER, "dur": {"type": "number", "minimum": 0}},
            "required": ["ts", "dur"],
        },
        {"properties": {"ph": {"const": "i"}, "ts": NUMBER, "s": {"enum": ["g", "p", "t"]}}, "required": ["ts"]},
        {
            "properties": {
                "ph": {"const": "M"},
                "name": {"enum": ["process_name", "thread_name"]},
                "args": {"required": ["name"]},
            }
        },
    ],
}
"""Of the format, the kinds of events that are written: phases, whole compiles, instants, names."""


def timeline(tmp_path: Path, *paths: Path) -> list[dict[str, Any]]:
    arguments = ["report", *map(str, paths), "-o", str(tmp_path / "out"), "--perfetto", str(tmp_path / "time.json")]
    result = CliRunner().invoke(depyf, arguments)
    assert result.exit_code == 0, result.output
    events = json.loads((tmp_path / "time.json").read_text())["traceEvents"]
    assert isinstance(events, list)
    return events


@pytest.mark.parametrize("name", ["small_2.6.log.gz", "small_2.13.log.gz", "small_2.15.log.gz", "ranks"])
def test_events_are_as_the_format_says_and_phases_are_nested(name: str, tmp_path: Path) -> None:
    events = timeline(tmp_path, DATA / name)
    check = jsonschema.Draft202012Validator(EVENT)
    assert [error.message for event in events for error in check.iter_errors(event)] == []
    open_phases: dict[tuple[int, int], list[tuple[str, float]]] = {}
    for event in events:
        open_of_row = open_phases.setdefault((event["pid"], event["tid"]), [])
        if event["ph"] == "B":
            assert not open_of_row or open_of_row[-1][1] <= event["ts"]
            open_of_row.append((event["name"], event["ts"]))
        elif event["ph"] == "E":
            begun = open_of_row.pop()
            assert begun[0] == event["name"] and begun[1] <= event["ts"]


def test_each_finding_is_an_instant_where_its_compile_begins(tmp_path: Path) -> None:
    events = timeline(tmp_path, DATA / "small_2.13.log.gz")
    index = json.loads((tmp_path / "out" / "index.json").read_text())
    titled_causes = [(f"{finding['kind']} {finding['compiles'][0]}", finding["cause"]) for finding in index["findings"]]
    instants = [(event["name"], event["args"].get("cause")) for event in events if event["ph"] == "i"]
    assert titled_causes and all(text in instants for text in titled_causes)
    begins = {event["name"]: event["ts"] for event in events if event["ph"] == "i"}
    # Torch says why it compiles once more right before it does.
    recompile = begins["recompile 0/1"]
    assert min(event["ts"] for event in events if "ts" in event) < recompile
    assert all(abs(ts - recompile) < 1e6 for name, ts in begins.items() if name.endswith(" 0/1"))


def test_what_a_rank_does_otherwise_is_an_instant_of_that_rank(tmp_path: Path) -> None:
    events = timeline(tmp_path, DATA / "ranks")
    names = {event["pid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    differ = [names[event["pid"]] for event in events if event["name"].startswith("rank differs: recompile 1/1")]
    assert (sorted(names.values()), differ) == (["rank 0", "rank 1", "rank 2", "rank 3"], ["rank 3"])
