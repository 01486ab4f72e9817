"""docs/measurements.md is what docs/measurements.json says, and every row says enough to be measured again."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from benchmarks import bar, measurements

FOUND = json.loads(measurements.DATA.read_text(encoding="utf-8"))
FIELDS = ["id", "topic", "claim", "bar", "value", "command", "environment", "on", "prints", "reads"]
REFERENCE = re.compile(r"\b(of these|of them|among them|again|before this|commit)\b")
"""Words with which a claim leans on another row or on the past."""


def test_the_page_is_written_from_the_data() -> None:
    written = measurements.PAGE.read_text(encoding="utf-8")
    assert written == measurements.page(FOUND), "python -m benchmarks.measurements"


@pytest.mark.parametrize("row", FOUND["rows"], ids=lambda row: row["id"])
def test_a_row_has_one_claim_one_value_and_a_command(row: dict[str, str]) -> None:
    assert [field for field in FIELDS if field in row] == list(row)
    assert set(FIELDS) - set(row) <= {"bar", "prints", "reads"}
    assert all(row.values())
    assert measurements.VALUE.fullmatch(row["value"]), "a value is one number, or N of M, with its unit"
    assert measurements.BAR.fullmatch(row.get("bar", ""))
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", row["on"])
    assert ";" not in row["claim"] and not REFERENCE.search(row["claim"]), "a claim needs no other row"
    assert len(row["claim"].split()) <= 30


def test_ids_and_claims_are_unique_and_topics_are_used() -> None:
    ids, claims = ([row[name] for row in FOUND["rows"]] for name in ("id", "claim"))
    assert len(ids) == len(set(ids)) and len(claims) == len(set(claims))
    assert {row["topic"] for row in FOUND["rows"]} == set(FOUND["topics"])


def test_each_command_exists() -> None:
    for row in FOUND["rows"]:
        words = shlex.split(row["command"])
        if "-m" in words and words[words.index("-m") + 1].split(".")[0] in ("tools", "benchmarks"):
            path = measurements.ROOT.joinpath(*words[words.index("-m") + 1].split("."))
            assert path.is_dir() or path.with_suffix(".py").is_file(), row["command"]


@pytest.mark.parametrize(
    ("wanted", "value", "expected"),
    [
        ("0", "0 of 42", True),
        ("0", "1 of 42", False),
        ("all", "42 of 42", True),
        ("all", "41 of 42", False),
        ("at most 1.1", "1.1", True),
        ("at most 10,000 bytes", "10,001 bytes", False),
        ("at least 98 %", "98.12 %", True),
        ("at least 57 of 60", "24 of 24", True),
        ("at least 57 of 60", "56 of 60", False),
    ],
)
def test_whether_a_bar_is_met(wanted: str, value: str, expected: bool) -> None:
    assert measurements.is_met(wanted, value) is expected


def _row(**more: str) -> dict[str, str]:
    row = {"id": "one", "topic": "a", "claim": "One", "value": "0", "command": "python -c 'print(6 * 7)'"}
    return row | {"environment": measurements.environment(), "on": "2000-01-01"} | more


def test_a_run_keeps_the_value_and_the_day() -> None:
    read, by_hand = _row(reads=r"(\d+)"), _row()
    measurements.run([read, by_hand])
    assert read["value"] == "42" and read["on"] > "2026"
    assert by_hand["value"] == "0"
    with pytest.raises(LookupError, match="one"):
        measurements.run([_row(reads=r"(\d+) ms")])


def test_a_run_reads_the_bar_that_a_row_names() -> None:
    printed = "met      a: files: 0 of 3 files (a note: 1)\nNOT MET  b: files: 1 of 4 files\n           a detail"
    row = _row(command=f"python -c 'print({json.dumps(printed)})'", prints="*: files")
    measurements.run([row])
    assert row["value"] == "1 of 7"


def test_a_benchmark_writes_its_bars_into_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        _row(command="python -m benchmarks.x --seed 1", prints="a"),
        _row(id="two", command="python -m benchmarks.x --seed 2", prints="a"),
        _row(id="three", command="python -m benchmarks.x --seed 1", prints="a", environment="torch 1.0, Python 3.1"),
        _row(id="four", command="python -m benchmarks.x FOLDER...", prints="b"),
    ]
    data, page = tmp_path / "m.json", tmp_path / "m.md"
    data.write_text(json.dumps({"text": "", "topics": {"a": ""}, "rows": rows}))
    monkeypatch.setattr(measurements, "DATA", data)
    monkeypatch.setattr(measurements, "PAGE", page)
    monkeypatch.setenv(bar.KEEP, "1")
    monkeypatch.setattr(bar, "_command", lambda: "python -m benchmarks.x --seed 1")
    with pytest.raises(SystemExit):
        bar.report([bar.Bar("a", "7 ms", True, note="8"), bar.Bar("b", "9", True)])
    values = {row["id"]: row["value"] for row in json.loads(data.read_text())["rows"]}
    assert values == {"one": "7 ms", "two": "0", "three": "0", "four": "9"}
    assert "| 7 ms |" in page.read_text()
