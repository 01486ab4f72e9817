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
    found = json.loads((tmp_path / "time.json").read_text())["traceEvents"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("name", ["small_2.6.log.gz", "small_2.13.log.gz", "small_2.15.log.gz", "ranks"])
def test_events_are_as_the_format_says_and_phases_are_nested(name: str, tmp_path: Path) -> None:
    found = timeline(tmp_path, DATA / name)
    check = jsonschema.Draft202012Validator(EVENT)
    assert [error.message for each in found for error in check.iter_errors(each)] == []
    open_phases: dict[tuple[int, int], list[tuple[str, float]]] = {}
    for each in found:
        own = open_phases.setdefault((each["pid"], each["tid"]), [])
        if each["ph"] == "B":
            assert not own or own[-1][1] <= each["ts"]
            own.append((each["name"], each["ts"]))
        elif each["ph"] == "E":
            begun = own.pop()
            assert begun[0] == each["name"] and begun[1] <= each["ts"]


def test_each_finding_is_an_instant_where_its_compile_begins(tmp_path: Path) -> None:
    found = timeline(tmp_path, DATA / "small_2.13.log.gz")
    index = json.loads((tmp_path / "out" / "index.json").read_text())
    told = [(f"{each['kind']} {each['compiles'][0]}", each["cause"]) for each in index["findings"]]
    instants = [(each["name"], each["args"].get("cause")) for each in found if each["ph"] == "i"]
    assert told and all(each in instants for each in told)
    begins = {each["name"]: each["ts"] for each in found if each["ph"] == "i"}
    # Torch says why it compiles once more right before it does.
    recompile = begins["recompile 0/1"]
    assert min(each["ts"] for each in found if "ts" in each) < recompile
    assert all(abs(ts - recompile) < 1e6 for name, ts in begins.items() if name.endswith(" 0/1"))


def test_what_a_rank_does_otherwise_is_an_instant_of_that_rank(tmp_path: Path) -> None:
    found = timeline(tmp_path, DATA / "ranks")
    names = {each["pid"]: each["args"]["name"] for each in found if each["ph"] == "M"}
    differ = [names[each["pid"]] for each in found if each["name"].startswith("rank differs: recompile 1/1")]
    assert (sorted(names.values()), differ) == (["rank 0", "rank 1", "rank 2", "rank 3"], ["rank 3"])
