"""Executables of PyInstaller and PYZ archives, written by their documented format; nothing in them runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from benchmarks.odd_files.containers import executable, pyz
from benchmarks.odd_files.programs import compiled_here
from depyf.cli.commands import depyf
from depyf.cli.exit_codes import EXIT_DONE, EXIT_FAILED

SOURCE = "raise SystemExit(3)\n"
CODES = {"main": compiled_here(SOURCE), "pkg.__init__": compiled_here("x = 1\n"), "pkg.m": compiled_here("y = 2\n")}


def run(path: Path, out: Path) -> Result:
    """Decompile a bundle to a folder."""
    return CliRunner().invoke(depyf, ["decompile", str(path), "-o", str(out), "-j", "1"])


@pytest.mark.parametrize(("name", "content"), [("app", executable(CODES)), ("app.pyz", pyz(CODES))])
def test_the_modules_of_a_bundle_are_decompiled(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    done = run(path, tmp_path / "out")
    assert done.exit_code == EXIT_DONE, done.output
    assert (tmp_path / "out/main.py").read_text() == SOURCE
    assert (tmp_path / "out/pkg/__init__.py").read_text() == "x = 1\n"
    assert (tmp_path / "out/pkg/m.py").read_text() == "y = 2\n"


@pytest.mark.parametrize("place", [4, 60, -200, -60])
def test_a_damaged_bundle_is_one_clear_line(tmp_path: Path, place: int) -> None:
    content = bytearray(executable(CODES))
    content[place : place + 4] = b"\xff" * 4
    path = tmp_path / "app"
    path.write_bytes(content)
    done = run(path, tmp_path / "out")
    assert done.exit_code in (EXIT_DONE, EXIT_FAILED)
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert done.stderr.count(str(path)) <= 1


def test_a_member_outside_of_the_bundle_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "app"
    path.write_bytes(executable({"../main": compiled_here(SOURCE)}))
    done = run(path, tmp_path / "out")
    assert done.exit_code == EXIT_FAILED and "leads out of the archive" in done.stderr
    assert not (tmp_path / "main.pyc").exists()
