"""A constant finds room in code that has very many, also where an instruction has no caches to spare."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import interpreters

ROOT = Path(__file__).parents[2]
VERSIONS = ((3, 10), (3, 11), (3, 14))
SCRIPT = """
import sys, types
sys.path[:0] = sys.argv[1:2]
from depyf.verify.candidate.recompile import recompile

calls = "".join(f"    a({number}.5)\\n" for number in range(300))
text = f"def f(a):\\n    'says what it does'\\n{calls}    return object_x(a), object_y"
original = types.FunctionType(compile(text, "f", "exec").co_consts[0], {}).__code__
found = []
made = recompile(text, original, filename="f", placeholders={"object_x": found.append, "object_y": ...})
result = types.FunctionType(made, {})(lambda number: number)
assert len(found) == 1 and result == (None, ...), result
assert made.co_consts[0] == original.co_consts[0] == "says what it does"

nested = f"def f(a):\\n{calls}    def g(b=object_x): return b\\n    return g"
original = compile(nested, "f", "exec").co_consts[0]
made = recompile(nested, original, filename="f", placeholders={"object_x": found}, functions={"g": "other"})
inner = types.FunctionType(made, {})(lambda number: number)
assert inner() is found and inner.__qualname__ == "f.<locals>.other", inner
print("there is room")
"""


@pytest.mark.parametrize("version", VERSIONS, ids=interpreters.label)
def test_a_constant_behind_many_others(version: tuple[int, int]) -> None:
    python = interpreters.need(version)
    assert interpreters.run(python, SCRIPT, str(ROOT / "src")) == "there is room\n"
