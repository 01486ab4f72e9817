"""Damaged `.pyc` files: what is whole comes out with its place, and the error names the rest."""

from __future__ import annotations

import importlib.util
import marshal
import types
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from depyf.bytecode.damaged import whole_codes
from depyf.cli.commands import depyf
from depyf.cli.exit_codes import EXIT_FAILED

SOURCE = """\
import os
def first(a, b):
    return a + b
class Kind:
    def method(self, x):
        return [x for x in self.items if x]
def outer(n):
    def inner(m):
        return n * m
    return inner
def last(q):
    for i in q:
        print(i, os)
"""
MODULE = compile(SOURCE, "m.py", "exec")
DATA = importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(MODULE)
NAMES = [const.co_name for const in MODULE.co_consts if isinstance(const, types.CodeType)]


def run(*arguments: str | Path) -> Result:
    """Run `depyf decompile`."""
    return CliRunner().invoke(depyf, ["decompile", *map(str, arguments)])


def test_each_code_object_that_ends_before_the_cut_is_whole() -> None:
    ends = {piece.code.qualname: piece.end for piece in whole_codes(DATA[:-1], source="m.pyc")}
    assert list(ends) == NAMES
    for name, end in ends.items():
        before = [piece.code.qualname for piece in whole_codes(DATA[: end - 1], source="m.pyc")]
        behind = [piece.code.qualname for piece in whole_codes(DATA[:end], source="m.pyc")]
        assert name not in before
        assert name in behind


@pytest.mark.parametrize("size", [0, 4, 8, 12, 16])
def test_a_cut_file_without_a_header_has_the_same_pieces(size: int) -> None:
    cut = DATA[:size] + DATA[16:-1]
    assert [piece.code.qualname for piece in whole_codes(cut, source="m.pyc")] == NAMES


def test_the_command_writes_what_is_whole_and_fails(tmp_path: Path) -> None:
    path = tmp_path / "m.pyc"
    path.write_bytes(DATA[:-1])
    done = run(path)
    assert done.exit_code == EXIT_FAILED
    for line in ("def first(a, b):", "class Kind:", "    def method(self, x):", "def outer(n):", "def last(q):"):
        assert line in done.stdout.splitlines()
    compile(done.stdout, "text", "exec")
    assert "4 whole code objects before the damage written, not proven" in done.stderr
    assert done.stderr.count("m.pyc") == 1


def test_a_function_with_free_variables_comes_in_a_wrapper(tmp_path: Path) -> None:
    path = tmp_path / "m.pyc"
    place = next(piece.start for piece in whole_codes(DATA[:-1], source="m.pyc") if piece.code.qualname == "outer")
    inner = DATA.index(b"inner", place)
    end = next(
        end for end in range(inner, len(DATA)) if any(
            piece.code.name == "inner" for piece in whole_codes(DATA[:end], source="m.pyc")
        )
    )
    path.write_bytes(DATA[:end])
    done = run(path)
    assert "return n * m" in done.stdout
    compile(done.stdout, "text", "exec")


def test_a_file_without_a_whole_code_object_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "m.pyc"
    path.write_bytes(DATA[:40])
    done = run(path)
    assert done.exit_code == EXIT_FAILED
    assert not done.stdout
    assert len(done.stderr.splitlines()) == 1


def test_in_a_folder_the_pieces_are_written_beside_the_whole_modules(tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    (folder / "whole.pyc").write_bytes(DATA)
    (folder / "cut.pyc").write_bytes(DATA[:-1])
    done = run(folder, "-o", out, "-j", "1")
    assert done.exit_code == EXIT_FAILED
    assert "def last(q):" in (out / "cut.py").read_text()
    assert (out / "whole.py").read_text().startswith("import os")
    assert "4 whole code objects before the damage written" in done.stdout
