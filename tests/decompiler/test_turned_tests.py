"""A `while` test that the compiler wrote twice is one, also where one copy asks for the opposite of the other."""

from __future__ import annotations

import itertools

import pytest

from depyf.decompiler.module import decompile_module
from depyf.verify.level import Level
from tests import interpreters
from tests.oracles import compiled, oracle

TESTS = (
    "x and not b or c",
    "x and not b or c < b <= 3",
    "not x or b and not c",
    "x and b or c",
    "not (x or not b) and c",
)
BODIES = (
    "if g: break\n   if h: continue\n   k()",
    "if g: break\n   elif h: continue\n   k()",
    "if h: continue\n   k()",
)
ENDS = ("", "\n  else: m()")


@pytest.mark.parametrize("version", [(3, 8), (3, 10), (3, 11), (3, 14)], ids=interpreters.label)
def test_loops_are_written_as_loops(version: tuple[int, int]) -> None:
    for test, body, end in itertools.product(TESTS, BODIES, ENDS):
        text = f"def f(a, b):\n for x in a:\n  while {test}:\n   {body}{end}\n"
        decompiled = decompile_module(compiled(text, version), oracle=oracle(version))
        assert decompiled.level is not Level.UNPROVEN, text
        assert "state" not in decompiled.source, text
