"""docs/measurements.md is what docs/measurements.json says, and every row says enough to be measured again."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from tools import measurements

FOUND = json.loads(measurements.DATA.read_text(encoding="utf-8"))


def test_the_page_is_written_from_the_data() -> None:
    written = measurements.PAGE.read_text(encoding="utf-8")
    assert written == measurements.page(FOUND), "python -m tools.measurements"


def test_each_row_has_one_claim_one_value_and_a_command() -> None:
    claims = [(row["section"], row["claim"]) for row in FOUND["rows"]]
    assert len(claims) == len(set(claims))
    assert {row["section"] for row in FOUND["rows"]} == set(FOUND["sections"])
    for row in FOUND["rows"]:
        assert set(row) <= {"section", "claim", "bar", "value", "command", "on", "reads"}, row
        assert row["claim"] and row["value"] and row["command"], row
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", row["on"]), row
        assert len(row["value"]) <= 120, f"history belongs to git and CHANGELOG: {row['claim']}"


def test_each_command_is_there() -> None:
    for row in FOUND["rows"]:
        words = shlex.split(row["command"].partition(" in ")[0])
        if "-m" in words and words[words.index("-m") + 1].split(".")[0] in ("tools", "benchmarks"):
            path = measurements.ROOT.joinpath(*words[words.index("-m") + 1].split("."))
            assert path.is_dir() or path.with_suffix(".py").is_file(), row["command"]


def test_a_value_is_read_from_what_a_command_prints() -> None:
    assert measurements.read_value(r"(\d+) of (\d+)", "told: 40 of 41 fail") == "40, 41"
    assert measurements.read_value(r"\d+ ms", "it took 7 ms") == "7 ms"
    with pytest.raises(LookupError):
        measurements.read_value(r"(\d+) of", "nothing")


def test_a_run_keeps_the_value_and_the_day() -> None:
    row = {"claim": "one", "value": "0", "on": "2000-01-01", "command": "python -c 'print(6 * 7)'", "reads": r"\d+"}
    left = {"claim": "two", "value": "0", "on": "2000-01-01", "command": "python -c 'print(1)'"}
    measurements.run([row, left])
    assert row["value"] == "42" and row["on"] > "2026"
    assert left["value"] == "0"
