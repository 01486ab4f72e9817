"""`else: assert False`, which comes as an `assert` of the test before it."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.splits import split_tests
from tests.decompiler.placing import placed

REST = "".join(f"\ny() #@ {line}:0" for line in range(9, 19))
"""Statements that show how far blocks are indented."""


def restored(text: str) -> str:
    body = placed(text + REST)
    split_tests(body, Columns(body))
    return ast.unparse(ast.fix_missing_locations(ast.Module(body[:1], [])))


# The test of an `assert` begins seven columns behind it: in column 5 it stands where `elif` has its own.
TEXT = "if a: #@ 1:0\n    x() #@ 2:4\nelse:\n    assert b, c #@ 3:-2\n    d() #@ 4:4"
WRITTEN = {
    TEXT: "if a:\n    x()\nelif b:\n    d()\nelse:\n    assert False, c",
    TEXT.replace(", c", ""): "if a:\n    x()\nelif b:\n    d()\nelse:\n    assert False",
    TEXT.replace("b, c #@ 3:-2", "not b, c #@ 3:2"): (
        "if a:\n    x()\nelif not b:\n    d()\nelse:\n    assert False, c"
    ),
}
STAYS = {
    "a test behind assert": TEXT.replace("3:-2", "3:4"),
    "no place of the test": TEXT.replace(" #@ 3:-2", ""),
    "no place of what follows": TEXT.replace(" #@ 4:4", ""),
    "nothing behind the assert": TEXT.replace("\n    d() #@ 4:4", ""),
    "something before the assert": TEXT.replace("else:\n", "else:\n    y() #@ 2:8\n"),
    "no else": "if a: #@ 1:0\n    assert b #@ 3:-2\n    d() #@ 4:4",
    "a loop": TEXT.replace("if a", "while a"),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_what_is_an_elif(text: str) -> None:
    assert restored(text) == WRITTEN[text]


@pytest.mark.parametrize("why", STAYS)
def test_what_is_an_assert(why: str) -> None:
    assert restored(STAYS[why]) == ast.unparse(ast.parse(STAYS[why]))
