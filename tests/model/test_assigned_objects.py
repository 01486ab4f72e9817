"""Objects that a compile changes, read from the user's source."""

from __future__ import annotations

from pathlib import Path

from depyf.model.assigned_objects import assigned_objects
from depyf.model.lines_read import LinesRead

SOURCE = """\
def forward(self, x, state):
    if self.mask is None:
        self.mask = x.new_ones(8)
    state["steps"] += 1
    box = make()
    box.value = x
    kept["hidden"] = x
    keep(x)
    return x

def keep(x):
    kept["kept"] = x
    x.seen = True
"""


def test_assignments_on_lines_that_dynamo_read_change_objects_from_outside(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(SOURCE)
    lines = tuple(range(2, 10))
    own = LinesRead("Net.forward", str(file), 1, lines, lines, (2, 4, 5, 6, 7, 8, 9))
    callee = LinesRead("keep", str(file), 11, (12, 13), (), (12, 13))
    effects = list(assigned_objects([own, callee], (str(file), 1)))
    assert [(effect.source, effect.lines[0].line, effect.lines[0].text) for effect in effects] == [
        ("state", 4, 'state["steps"] += 1'),
        ("kept", 7, 'kept["hidden"] = x'),
        ("kept", 12, 'kept["kept"] = x'),
    ]
    whole = LinesRead("Net.forward", str(file), 1, lines, lines, lines)
    assert [effect.source for effect in assigned_objects([whole], (str(file), 1))] == ["self", "state", "kept"]
