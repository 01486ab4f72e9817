"""`depyf decompile` of a zip: a zipapp, a wheel, an egg. Nothing in it is executed or written outside of the output."""

from __future__ import annotations

import importlib.util
import marshal
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from depyf.cli.decompile import decompile

PYC = importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(compile("x = 1\n", "m.py", "exec"))


def archive(path: Path, members: dict[str, bytes], before: bytes = b"") -> Path:
    with path.open("wb") as file:
        file.write(before)
        with zipfile.ZipFile(file, "w") as out:
            for name, data in members.items():
                out.writestr(name, data)
    return path


@pytest.mark.parametrize(("name", "before"), [("app.pyz", b"#!/usr/bin/env python3\n"), ("a.whl", b""), ("a.egg", b"")])
def test_the_files_of_an_archive_are_decompiled(name: str, before: bytes, tmp_path: Path) -> None:
    members = {"pkg/m.pyc": PYC, "__main__.py": b"raise SystemExit(3)\n", "pkg/data.txt": b"no code"}
    path = archive(tmp_path / name, members, before)
    result = CliRunner().invoke(decompile, [str(path), "-o", str(tmp_path / "out"), "-j", "1"])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out/pkg/m.py").read_text() == "x = 1\n"
    assert (tmp_path / "out/__main__.py").read_text() == "raise SystemExit(3)\n"
    assert not (tmp_path / "out/pkg/data.txt").exists()


def test_an_archive_needs_a_folder_for_its_files(tmp_path: Path) -> None:
    result = CliRunner().invoke(decompile, [str(archive(tmp_path / "a.whl", {"m.pyc": PYC}))])
    assert result.exit_code == 2 and "an archive needs -o FOLDER" in result.output


def test_a_member_outside_of_the_archive_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.whl", {"../m.pyc": PYC})
    result = CliRunner().invoke(decompile, [str(path), "-o", str(tmp_path / "out")])
    assert result.exit_code == 1 and "leads out of the archive" in result.output
    assert not (tmp_path / "m.py").exists() and not (tmp_path / "m.pyc").exists()


def test_a_damaged_archive_is_one_clear_line(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.whl", {"m.pyc": PYC * 50})
    path.write_bytes(path.read_bytes().replace(PYC[:40], bytes(40), 1))
    result = CliRunner().invoke(decompile, [str(path), "-o", str(tmp_path / "out")])
    assert result.exit_code == 1 and "the archive cannot be read" in result.output
    assert result.output.count("a.whl") == 1
