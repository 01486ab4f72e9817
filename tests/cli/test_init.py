"""`depyf init vscode`, and the lines that its problem matcher reads."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from depyf.cli.commands import depyf
from depyf.cli.init import MATCHER, tasks, with_tasks
from depyf.model.finding import Cost, Finding, Severity, Where
from depyf.views.lines import message_lines
from tests.dump_of_toy import function, index, toy_entry, write_dump

LABELS = ["depyf: run this file", "depyf: findings", "depyf: report"]


def _init(directory: Path) -> tuple[int, str]:
    done = CliRunner().invoke(depyf, ["init", "vscode", "--directory", str(directory)])
    return done.exit_code, done.output


def test_tasks_are_written_into_a_new_file(tmp_path: Path) -> None:
    code, text = _init(tmp_path)
    assert code == 0 and "depyf: findings" in text
    tasks_file = json.loads((tmp_path / ".vscode" / "tasks.json").read_text(encoding="utf-8"))
    assert tasks_file["version"] == "2.0.0"
    assert [task["label"] for task in tasks_file["tasks"]] == LABELS
    assert tasks_file["tasks"][1]["dependsOn"] == LABELS[0]


def test_other_tasks_and_keys_stay_and_own_ones_are_renewed(tmp_path: Path) -> None:
    mine = {"label": "mine", "type": "shell", "command": "make"}
    before = {"version": "2.0.0", "inputs": [], "tasks": [mine, {"label": LABELS[1], "command": "old"}]}
    once = with_tasks(json.dumps(before))
    tasks_file = json.loads(once)
    assert tasks_file["inputs"] == [] and tasks_file["tasks"][0] == mine
    assert [task["label"] for task in tasks_file["tasks"]] == ["mine", *LABELS]
    assert with_tasks(once) == once


@pytest.mark.parametrize("text", ["// a comment\n{}", "[]", '{"tasks": {}}'])
def test_a_file_that_cannot_be_changed_stays_and_the_tasks_are_printed(tmp_path: Path, text: str) -> None:
    path = tmp_path / ".vscode" / "tasks.json"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(depyf, ["init", "vscode", "--directory", str(tmp_path)])
    assert done.exit_code == 1 and "by hand" in done.stderr
    assert json.loads(done.stdout) == tasks()
    assert path.read_text(encoding="utf-8") == text


def test_the_commands_of_the_tasks_exist() -> None:
    for task in tasks():
        _, module, command, *arguments = task["args"]
        options = [argument for argument in arguments if argument.startswith("--")]
        text = CliRunner().invoke(depyf, [command, "--help"]).output
        assert module == "depyf" and all(option in text for option in options), task


@pytest.mark.parametrize(("severity", "word"), [("high", "error"), ("medium", "warning"), ("low", "info")])
def test_the_matcher_reads_the_lines(severity: Severity, word: str) -> None:
    where = Where("models/net one.py", 12, "forward")
    cost = Cost(None, 1.0, 1)
    finding = Finding("break-print", severity, where, "`print` is\ncalled: x [y]", cost, "move it", ("0/0",))
    (text,) = message_lines([finding])
    pattern = MATCHER["pattern"]
    match = re.search(pattern["regexp"], text)
    assert match is not None, text
    assert match[pattern["file"]] == "models/net one.py" and match[pattern["line"]] == "12"
    assert match[pattern["severity"]] == word and match[pattern["code"]] == "break-print"
    assert match[pattern["message"]] == "`print` is called: x [y]. Fix: move it"


def test_show_prints_the_lines(tmp_path: Path) -> None:
    write_dump(tmp_path, index([function("toy", [toy_entry()])]), {})
    done = CliRunner().invoke(depyf, ["show", str(tmp_path), "--lines"])
    assert done.exit_code == 0
    assert re.fullmatch(r"toy\.py:6: warning: Graph break: .* \[break-[\w-]+\]\n", done.output), done.output
    assert CliRunner().invoke(depyf, ["show", str(tmp_path), "--lines", "--json"]).exit_code == 2
    assert CliRunner().invoke(depyf, ["show", str(tmp_path), "--lines", "--sarif"]).exit_code == 2
