"""The mutation tool counts what it says."""

from __future__ import annotations

import ast
from pathlib import Path

from depyf.verify.level import Level
from tests.quality.mutate import functions, level, mutants, shown
from tests.quality.mutations import KINDS

TEXT = """
def f(a, b):
    try:
        for x in a:
            y = x.z
            b(1, y)
            if x < b and y:
                break
            a.x = y
        else:
            return x, y
    except KeyError:
        b()
    finally:
        a()
    return b(y, (a, 1), *x)
"""


def test_every_kind_finds_a_site_and_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(TEXT)
    changed = list(mutants([path], seed=1, count=150))
    assert {mutant.kind for mutant in changed} == set(KINDS)
    for mutant in changed:
        assert level(mutant) is Level.UNPROVEN, shown(mutant)


def test_methods_are_found_without_decorators_and_defaults(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("class C:\n @property\n def m(self, x: int = 1) -> int:\n  def n(): pass\n  return x\n")
    (method,) = functions(path)
    assert ast.unparse(method).splitlines()[0] == "def m(self, x):"
