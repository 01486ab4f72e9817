"""A folder that was decompiled in part goes on; only what changed or failed is done again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from depyf.cli.commands import depyf


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "in"
    root.mkdir()
    for name in "abc":
        (root / f"{name}.py").write_text(f"{name} = 1\n", encoding="utf-8")
    return root


def run(folder: Path, *options: str) -> Result:
    """Decompile the folder."""
    return CliRunner().invoke(depyf, ["decompile", str(folder), "-o", str(folder.parent / "out"), "-j", "1", *options])


def test_a_second_run_does_only_what_is_left(folder: Path) -> None:
    journal = folder.parent / "out.levels.jsonl"
    assert "earlier" not in run(folder).stdout
    rows = journal.read_text(encoding="utf-8").splitlines()
    assert {json.loads(row)["level"] for row in rows} == {"EXACT"}
    journal.write_text("\n".join([*rows[:2], rows[2][:20]]), encoding="utf-8")
    done = run(folder)
    assert done.stdout.startswith("3 files: 3 EXACT\n") and "2 of these files are from an earlier run" in done.stdout


def test_a_changed_file_and_other_options_are_done_again(folder: Path) -> None:
    run(folder)
    (folder / "a.py").write_text("a = 2\n", encoding="utf-8")
    assert "2 of these files" in run(folder).stdout
    assert (folder.parent / "out" / "a.py").read_text(encoding="utf-8") == "a = 2\n"
    (folder.parent / "out" / "b.py").unlink()
    assert "2 of these files" in run(folder).stdout
    assert "earlier" not in run(folder, "--no-prove").stdout


def test_a_failed_file_is_tried_again_and_the_table_has_each_level(folder: Path) -> None:
    (folder / "d.py").write_text("def (:\n", encoding="utf-8")
    run(folder)
    done = run(folder)
    assert "3 of these files" in done.stdout
    words = [line.split() for line in done.stdout.splitlines()]
    assert ["EXACT", "3", "75.0%"] in [line[:3] for line in words]
    assert ["failed", "1", "25.0%"] in [line[:3] for line in words]
