"""Files are written whole, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from depyf.model import writer
from depyf.model.writer import DumpDirectoryError, foreign_files, prepared_directory, write_whole


def test_parents_are_made_and_nothing_is_left_in_them(tmp_path: Path) -> None:
    path = prepared_directory(str(tmp_path / "a" / "b"))
    assert path == tmp_path / "a" / "b"
    assert list(path.iterdir()) == []


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(DumpDirectoryError, match="depyf cannot write its files to"):
        prepared_directory(path)
    assert path.read_text(encoding="utf-8") == "mine"


def test_what_fails_in_the_middle_leaves_the_file_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file.py"
    write_whole(path, "whole")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer.os, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "half")
    assert path.read_text(encoding="utf-8") == "whole"
    assert os.listdir(tmp_path) == ["file.py"]


def test_text_that_utf8_cannot_hold(tmp_path: Path) -> None:
    write_whole(tmp_path / "f", "a\udc80b")
    assert (tmp_path / "f").read_text(encoding="utf-8") == "a\\udc80b"


def test_files_that_are_not_of_a_dump_are_seen(tmp_path: Path) -> None:
    assert foreign_files(tmp_path) == []
    (tmp_path / "index.md").write_text("mine")
    (tmp_path / "full_code_for_f_0.py").write_text("mine")
    assert foreign_files(tmp_path) == ["full_code_for_f_0.py", "index.md"]
    (tmp_path / "index.json").write_text("{}")
    assert foreign_files(tmp_path) == []
