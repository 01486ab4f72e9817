"""`depyf skill`: the text is installed with the package, teaches commands that exist, and is written where asked."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from depyf.cli.commands import COMMANDS, depyf
from depyf.cli.exit_codes import EXIT_DONE, EXIT_FAILED
from depyf.cli.skill_command import skill_text

MOST_LINES = 120


def _run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(depyf, ["skill", *arguments])
    return done.exit_code, done.output


def test_it_prints_the_text() -> None:
    code, text = _run()
    assert code == EXIT_DONE and text == skill_text()
    assert resources.files("depyf.cli.skill").joinpath("SKILL.md").is_file()


def test_the_head_is_that_of_a_skill() -> None:
    head = skill_text().split("---\n")[1]
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert fields["name"] == "depyf"
    assert 100 < len(fields["description"]) <= 1024
    assert skill_text().count("\n") <= MOST_LINES


def test_the_loop_is_in_order() -> None:
    headings = re.findall(r"^## \d\. (\w+)", skill_text(), re.MULTILINE)
    assert headings == ["Run", "Show", "Fix", "Expect"]


def test_every_command_and_option_exists() -> None:
    commands = re.findall(r"\bdepyf (\w+)((?: [^`|\n]*)?)", skill_text())
    seen = set()
    for name, rest in commands:
        if name not in COMMANDS:
            continue
        seen.add(name)
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(__import__(f"depyf.cli.{module}", fromlist=[attribute]), attribute)
        known = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
        options = {name for option in known for name in (*option.opts, *option.secondary_opts)}
        assert set(re.findall(r"(?<= )--?[a-z][\w-]*", rest)) <= options, (name, rest)
    assert {"run", "show", "fix", "diff", "doctor"} <= seen


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        (".claude", ".claude/skills/depyf/SKILL.md"),
        (".agents", ".agents/skills/depyf/SKILL.md"),
        ("", ".agents/skills/depyf/SKILL.md"),
    ],
)
def test_it_goes_to_the_projects_folder(
    there: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if there:
        (tmp_path / there).mkdir()
    assert _run("--install") == (EXIT_DONE, f"{Path(expected)}\n")
    assert (tmp_path / expected).read_text(encoding="utf-8") == skill_text()


def test_it_goes_to_the_folder_that_is_named_and_is_renewed(tmp_path: Path) -> None:
    path = tmp_path / "mine" / "depyf" / "SKILL.md"
    assert _run("--install", str(tmp_path / "mine"))[0] == EXIT_DONE
    path.write_text(path.read_text(encoding="utf-8") + "old", encoding="utf-8")
    assert _run("--install", str(tmp_path / "mine"))[0] == EXIT_DONE
    assert path.read_text(encoding="utf-8") == skill_text()


def test_another_skill_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "depyf" / "SKILL.md"
    path.parent.mkdir()
    path.write_text("---\nname: other\n---\n", encoding="utf-8")
    code, text = _run("--install", str(tmp_path))
    assert code == EXIT_FAILED and "another skill" in text
    assert "name: other" in path.read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    code, text = _run("--install", str(tmp_path / "file"))
    assert code == EXIT_FAILED and "cannot be written" in text
