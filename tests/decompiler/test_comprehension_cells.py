"""Comprehensions whose variables are cells: of the function around, of their own, or of both."""

from __future__ import annotations

import pytest

from tests import interpreters
from tests.decompiler.again import exact

every_version = pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)

SOURCE = """
def f(a):
    base = 1
    g = lambda: base
    x = [h(base) for base in a]
    y = [lambda: base for base in a]
    z = {base: [base for base in q if base] for base, q in a}
    w = [[lambda: (base, c) for c in base] for base in a if base]
    v = [lambda: c for c in a if c for d in c]
    return base

def k(a):
    return [x + y for x in [lambda: x for x in a] for y in x]
"""


@every_version
def test_variables_of_comprehensions_come_back(version: tuple[int, int]) -> None:
    assert "__closure__" not in exact(SOURCE, version)


UNREACHED = """
u = [a for a in b if c if [c for c in d] if False for c in d]
v = {a: a for a in b if {c: d for c in b} if c if False for a, c in d}
w = [lambda: c for a in b if {c for c in d} if False for c in d]
x = [a for a in b if (lambda: c) if False for e in [d for c in b]]
y = [a for a in b if c if False if (c := a)]
n = [a for a in b if [c for c in d] if False for e in c]
m = [a for a in b if [c for d in c] if True or d if [d for d in c]]
z = {(c := d) for a in b if c if {e for c in d} for f in g if False}
t = (a for a in b if c if {d for c in e} if False for c in a)
class A:
    x = {a for b.c in d if e if False}
    y = {a for b.c in d if e if False for e in d}
"""


@every_version
def test_variables_of_code_that_is_gone_come_back(version: tuple[int, int]) -> None:
    if version >= (3, 8):
        exact(UNREACHED, version)


@pytest.mark.parametrize("gone", ["raise", "while b:\n    continue", "pass"], ids=["raise", "continue", "pass"])
@every_version
def test_cells_of_a_module_whose_comprehension_is_gone_come_back(version: tuple[int, int], gone: str) -> None:
    text = exact(f"f()\n{gone}\nif not 1:\n    [lambda: a for a in b]\n", version)
    assert ("lambda: a for a in ()" in text) is (version >= (3, 12))


def test_variables_of_comprehensions_inside_are_no_reads_of_others() -> None:
    source = "x = [[c for e in f] and [c for c in d] for a in b]\n"
    assert exact(source, (3, 11)) == source
    interpreters.need((3, 13))
    assert exact(source, (3, 13)) == source
