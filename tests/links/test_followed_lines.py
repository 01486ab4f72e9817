"""A finding stands at the line that reads the value, also where torch's guard names no line: most of 2.6 do not."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

import pytest

from depyf.model.lines_read import LinesRead
from depyf.model.reading_lines import followed

PROGRAM = """\
def scaled(x, factor, other=0):
    y = x + other
    return y * factor

class Net:
    def forward(self, x):
        x = x + 1
        return self.last(x, self.rate)

    def last(self, x, rate):
        return x * rate

def run(x, options):
    x = x + 1
    return use(x, options.scale)

def named(x, options):
    return scaled(x, 2, other=options)
"""


def function(name: str, line: int, path: Path) -> LinesRead:
    return LinesRead(name, str(path), line, (), (), ())


@pytest.mark.parametrize(
    ("name", "subject", "line"),
    [
        ("run", "options.scale", 3),
        ("run", "x", 14),
        ("named", "options.a", 2),
        ("Net.forward", "self.rate", 11),
        ("Net.forward", "self.other", None),
    ],
)
def test_a_value_is_followed_into_the_function_that_takes_it(
    tmp_path: Path, name: str, subject: str, line: int | None
) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    linecache.checkcache(str(path))
    lines = {"scaled": 1, "Net.forward": 6, "Net.last": 10, "run": 13, "named": 17}
    of: dict[str, Any] = {name: function(name, first, path) for name, first in lines.items()}
    called = {"run": ["scaled"], "named": ["scaled"], "Net.forward": ["Net.last"]}
    followed_line = followed(subject, of[name], [of[name], *(of[callee] for callee in called[name])])
    assert (followed_line and followed_line[1]) == line


def test_of_two_that_it_may_be_handed_to_none_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    linecache.checkcache(str(path))
    followed_line = followed(
        "options.scale", function("run", 13, path), [function("a", 1, path), function("b", 10, path)]
    )
    assert followed_line == (str(path), 15)


def test_what_takes_no_such_argument_is_not_it(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + "\ntwice = lambda x: x * 2\n")
    linecache.checkcache(str(path))
    read = [function("a", 1, path), function("<lambda>", 20, path)]
    followed_line = followed("options.scale", function("run", 13, path), read)
    assert followed_line == (str(path), 3)
