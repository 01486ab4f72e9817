"""The judge of `benchmarks.odd_files` sees a wrong text, a missing text, and a file without one clear line."""

from __future__ import annotations

from pathlib import Path

from benchmarks.odd_files.__main__ import problem
from benchmarks.odd_files.make import Odd, Wanted
from benchmarks.odd_files.programs import compiled_here

ONE, TWO = compiled_here("x = 1\n"), compiled_here("x = 2\n")


def test_the_right_text_is_no_problem(tmp_path: Path) -> None:
    assert problem(Odd("a.pyc", "clean", Wanted.TEXT, {"": ONE.marshalled}, {"": ONE}), tmp_path) == ""


def test_another_text_is_a_problem(tmp_path: Path) -> None:
    assert "differs" in problem(Odd("a.pyc", "clean", Wanted.TEXT, {"": ONE.pyc}, {"": TWO}), tmp_path)


def test_a_missing_text_is_a_problem(tmp_path: Path) -> None:
    odd = Odd("a", "tree", Wanted.TREE, {"m.pyc": ONE.pyc}, {"m.py": ONE, "n.py": TWO})
    assert "no n.py" in problem(odd, tmp_path)


def test_a_text_where_a_line_is_wanted_is_a_problem(tmp_path: Path) -> None:
    assert "exit code 0" in problem(Odd("a.pyc", "clean", Wanted.LINE, {"": ONE.pyc}, {}), tmp_path)
