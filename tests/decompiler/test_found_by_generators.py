"""Programs that random generators found, shrunk: each kind comes back exactly on every version that has its syntax."""

from __future__ import annotations

import pytest

from tests import interpreters
from tests.decompiler.again import exact

AUGMENTED_SLICES = """
x[1:2] += y
x[:] **= 0
x.y[a(b):] -= f(x)
x[a:b][c:d] += x[e:f]
x[1:2:3] += y
def f(x, y, a=1):
    x[a:] += y
    x[-1:] += y
    x[:] -= (yield a)
"""
CHAIN_BEFORE_FINALLY = """
try:
    a < b is c
except d:
    pass
finally:
    e
"""
CHAIN_IN_GROUP = CHAIN_BEFORE_FINALLY.replace("except d", "except* d")
UNREACHED_TYPE_PARAMETERS = """
def f[T]():
    def g():
        return
        T
    x = 1
    def h():
        nonlocal x
        return
        T
    class C:
        def m(self):
            return 1
            T
    return T

class D[T]:
    def f(self):
        return
        T, self.x

def k[T]():
    T = 1
    def g():
        nonlocal T
        return
        T
"""
BOUND_BESIDE_COMPREHENSION = """
async def f[T: a](x: {0 for u in a for a in w}):
    pass
"""
COMPREHENSION_OVER_NONLOCAL = """
def f():
    def g():
        nonlocal a
        [lambda: a for a in y]
    def h():
        nonlocal a
        z = [(a, lambda: a) for a in y]
        a = 2
    a = 1
"""
LAZY_CONDITIONAL = """
type x = 0 if {0} else 0
type y = 1 if not (a, b) else c
def f[T: (a if b else c if d else e)](): pass
"""
CASES = [
    *((AUGMENTED_SLICES, version) for version in interpreters.VERSIONS),
    *((CHAIN_BEFORE_FINALLY, version) for version in interpreters.VERSIONS if version >= (3, 11)),
    *((CHAIN_IN_GROUP, version) for version in interpreters.VERSIONS if version >= (3, 11)),
    *((UNREACHED_TYPE_PARAMETERS, version) for version in interpreters.VERSIONS if version >= (3, 12)),
    *((BOUND_BESIDE_COMPREHENSION, version) for version in interpreters.VERSIONS if version >= (3, 13)),
    *((LAZY_CONDITIONAL, version) for version in interpreters.VERSIONS if version >= (3, 14)),
    *((COMPREHENSION_OVER_NONLOCAL, version) for version in interpreters.VERSIONS if version >= (3, 12)),
]


@pytest.mark.parametrize(("source", "version"), CASES)
def test_what_generators_found_is_exact(source: str, version: tuple[int, int]) -> None:
    assert exact(source, version).strip()


def test_only_unreachable_code_reads_a_type_parameter() -> None:
    text = exact(UNREACHED_TYPE_PARAMETERS, (3, 13))
    assert text.count("nonlocal T") == 1 and text.count("if False:\n") == 4
