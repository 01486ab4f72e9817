"""A statement that changes an object of the user's stands for the lines that asked for it; no other one does."""

from __future__ import annotations

import ast

import pytest

from depyf.model.artifacts.effects import effect_lines
from depyf.model.artifacts.transformed_source import Notes, annotated
from depyf.model.run import SideEffect
from depyf.model.user_line import UserLine


def _commented(body: str, *sources: str) -> list[int]:
    """Return the indices of the statements of a body that change what one of the sources names."""
    effects = [SideEffect(source, (UserLine("toy.py", 5, "change it", "toy"),)) for source in sources]
    return list(effect_lines(ast.parse(body).body, effects))


@pytest.mark.parametrize(
    ("body", "source", "indices"),
    [
        ("x = other.items\ny = len(items)\nreturn_value = items[0]", "L['items']", []),
        ("items = [1]", "L['items']", []),
        ("f(x, items)", "L['items']", []),
        ("items[:] = [1, 2]", "L['items']", [0]),
        ("del items[0]", "L['items']", [0]),
        ("tmp = BOX\ntmp.items[:] = [1]", "G['BOX'].items", [1]),
        ("tmp = BOX\ntmp = f()\ntmp.items[:] = [1]", "G['BOX'].items", []),
        ("clear = TABLE.clear\nupdate = TABLE.update\nclear()\nupdate({})\nf()\nTABLE['x'] = 1", "G['TABLE']", [2, 5]),
        ("set_it = m.object_setattr_ignore_descriptor\nset_it(self, 'count', 1)", "L['self']", [1]),
        ("COUNT = 1", "G['COUNT']", [0]),
        ("y = 1", "y", [0]),
        ("self.table['a'] = 1", "L['self'].table", [0]),
        ("items[0].x = 1", "L['items'][0]", [0]),
        ("f()[0] = 1", "L['items']", []),
        ("items[0] = 1", "not an expression!", []),
    ],
)
def test_what_is_changed(body: str, source: str, indices: list[int]) -> None:
    assert _commented(body, source) == indices


def test_lines_of_another_file_are_named_with_it() -> None:
    here, there = UserLine("toy.py", 5, "a.append(1)"), UserLine("/far/away/lib.py", 7, "a.append(2)")
    notes = Notes((), effects=(SideEffect("L['a']", (here, there)),), filename="toy.py")
    assert annotated("def f(a):\n    a[:] = [1, 2]\n", notes).splitlines()[1] == (
        "    a[:] = [1, 2]  # :5 a.append(1)   lib.py:7 a.append(2)"
    )


def test_a_change_of_which_no_line_is_known_has_no_comment() -> None:
    notes = Notes((), effects=(SideEffect("L['a']", ()),), filename="toy.py")
    source = "def f(a):\n    a[:] = [1, 2]\n"
    assert annotated(source, notes) == source
