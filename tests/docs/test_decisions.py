"""Each decision has a number of its own, in its file's name, its title and the list."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs/decisions"
FILES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")


def test_numbers_are_unique_and_without_gaps() -> None:
    assert [path.name[:4] for path in FILES] == [f"{number:04}" for number in range(1, len(FILES) + 1)]


def test_a_title_begins_with_the_number() -> None:
    assert [path.name for path in FILES if not path.read_text(encoding="utf-8").startswith(f"# {path.name[:4]}")] == []


def test_the_list_has_each_decision_once() -> None:
    listed = re.findall(r"^\| \[(\d{4})\]\((\S+)\)", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [(path.name[:4], path.name) for path in FILES]
