"""The user's source beside a resume function: what has run, and what is left."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from types import FunctionType

import pytest

from depyf.model.user_source import (
    MOST_LINES,
    Resumption,
    code_source,
    function_source,
    line_at,
    marked_source,
    resumption_words,
    short_path,
    taken_branch,
)

BRANCH = """\
def f(a, b):
    x = a + 1
    if b.sum() < 0:
        b = -b
    return x * b
"""
LOOP = """\
    def f(self, n):
        start()
        for i in range(n):
            print(i)
            step(i)
        return n
"""


def test_a_branch_that_was_taken() -> None:
    resumed = Resumption(BRANCH, 10, break_line=12, line=13)
    assert taken_branch(resumed) is True
    assert resumption_words(resumed) == "from line 13 on, branch taken"
    assert marked_source(resumed) == [
        "#      10   def f(a, b):",
        "#      11       x = a + 1                             (already run)",
        "#      12       if b.sum() < 0:                       (already decided: true)",
        "#  >   13           b = -b",
        "#  >   14       return x * b",
    ]


def test_a_branch_that_was_not_taken() -> None:
    resumed = Resumption(BRANCH, 10, break_line=12, line=14)
    assert taken_branch(resumed) is False
    assert marked_source(resumed)[3].endswith("(not taken)")


def test_a_break_in_a_loop_does_not_say_that_the_loop_is_over() -> None:
    marked = marked_source(Resumption(LOOP, 1, break_line=4, line=5))
    assert marked[1].endswith("(already run)")
    assert marked[2].endswith("(already run in this round)")
    assert marked[3].endswith("(already run in this round)")
    assert marked[4].startswith("#  >")


def test_a_break_that_is_no_branch() -> None:
    assert taken_branch(Resumption(BRANCH, 10, break_line=11, line=12)) is None


@pytest.mark.parametrize("source", ["", "f = g(lambda x: x +\n"])
def test_source_that_cannot_be_parsed_or_read(source: str) -> None:
    resumed = Resumption(source, 10, break_line=10, line=12)
    assert taken_branch(resumed) is None
    assert marked_source(resumed) == []


def test_a_long_function_is_shown_around_the_line() -> None:
    source = "def f():\n" + "".join(f"    a{number}()\n" for number in range(500))
    marked = marked_source(Resumption(source, 1, break_line=300, line=301))
    assert len(marked) <= MOST_LINES
    assert marked[0].endswith("def f():")
    assert any("..." in line for line in marked[1:3])
    assert any(line.startswith("#  >  301 ") for line in marked)


def test_lines_and_functions_are_read_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("import os\n\n" + BRANCH, encoding="utf-8")
    assert function_source(str(path), 3) == BRANCH
    assert line_at(str(path), 5, "f").text == "if b.sum() < 0:"
    assert function_source(str(path), 99) == ""
    assert function_source(str(tmp_path / "none.py"), 1) == ""


def test_paths_are_shown_from_here_and_from_where_packages_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert short_path(str(tmp_path / "a" / "b.py")) == "a/b.py"
    assert short_path(pytest.__file__) == "pytest/__init__.py"
    assert short_path("<string>") == "<string>"
    assert short_path(str(tmp_path.parent / "elsewhere.py")) == str(tmp_path.parent / "elsewhere.py")


def test_a_package_of_an_environment_in_the_working_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    packages = Path(sysconfig.get_path("purelib"))
    monkeypatch.chdir(packages.parents[1])
    assert short_path(str(packages / "lib" / "a.py")) == "lib/a.py"
    monkeypatch.chdir(Path(pytest.__file__).parent)
    assert short_path(pytest.__file__) == "__init__.py"


def test_a_file_that_was_edited_after_it_ran_has_no_text_of_the_function(tmp_path: Path) -> None:
    path = tmp_path / "edited.py"
    path.write_text("def f(x):\n    return x\n")
    names: dict[str, FunctionType] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    path.write_text('"""A text that is\nnot complete.\n')
    assert code_source(names["f"].__code__) == ("", 1)
    assert function_source(str(path), 1) == '"""A text that is\n'
