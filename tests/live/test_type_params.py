"""A live function with type parameters is written with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import interpreters

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import depyf

def f[T: int, S: (int, str), *Ts, **P](a: T) -> S:
    return T

class C[V]:
    def m[W](self, x: W):
        return V, W

for function in (f, C.m, C().m):
    print(*depyf.decompile(function).splitlines()[:-1], sep="|")
"""
SRC = Path(__file__).parents[2] / "src"


@pytest.mark.parametrize("version", [(3, 12), (3, 13), (3, 14), (3, 15)], ids=interpreters.label)
def test_type_parameters_stand_in_the_definition(version: tuple[int, int]) -> None:
    lines = interpreters.run(interpreters.need(version), PROGRAM, str(SRC)).splitlines()
    params = "T: int, S: (int, str), *Ts, **P" if version >= (3, 14) else "T, S, *Ts, **P"
    assert lines[0] == f"def f[{params}](a: T) -> S:"
    assert lines[1:] == ["# closure: V = V|def m[W](self, x: W):"] * 2
