"""Ordinary source that once failed or was not proven; each is the smallest that shows its rule."""

from __future__ import annotations

import pytest

from tests import interpreters
from tests.decompiler.again import exact

every_version = pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)
from_3_8 = pytest.mark.parametrize("version", interpreters.VERSIONS[1:], ids=interpreters.label)
from_3_10 = pytest.mark.parametrize("version", interpreters.VERSIONS[3:], ids=interpreters.label)

SLICES = """
x[a, :]
x[:, a if b else c, 1:2] = 3
del x[y[:, a]:, b, ::2]
x[..., :] += 1
"""
OPPOSITE_ARMS = """
x = (y for y in z if (not g(y) if not b else c))
x = [y for y in z if (a if b else not c)]
x = f(a if (b if c else not d) else e)
while not b if c else d:
    y()
"""
TEXT_IN_RETURN = """
def f(a, b):
    return f"{'A' if a else 'B'}{' C' if b else ' D'}"
def g(a, b):
    return f"{a or b!r}y{b and a:{a if b else 'x'}}"
f'{x!s:}'
f'{x:}{y!r:}'
"""
CHAIN_AT_THE_END = """
def f(a, b, c):
    a() < b < c == d
def g(a, b):
    for x in a:
        a() or b and c
class A:
    a < b < c
a < b < c
"""
STARRED_SET = """
a = {1, 2, 3, *x, 4, 5, 6, *y}
"""
CLAUSES = """
try:
    f
except (a < b < c):
    pass
except A as b:
    g
"""
ASSERT_IN_CLAUSE = """
def f(s):
    try:
        p = s.x
    except KeyError:
        assert False, 'm'
    else:
        if p:
            g()
    return 1
"""
CONDITIONAL_IN_FINALLY = """
def f(t, g):
    try:
        return g()
    finally:
        s = 'pyd' if g.p == 'w' else 'so'
        t(s, [x for x in s if x])
"""
FINALLY_IN_CLAUSE = """
def f(close):
    try:
        g()
    except A as b:
        try:
            h()
        finally:
            if close:
                k()
            elif b:
                l()
    m()
"""
BREAK_OUT_OF_WITH = """
def f(self):
    for s in r():
        with self.a():
            try:
                Z(self)
            except B:
                pass
            else:
                break
"""
CELLS_OF_ANNOTATIONS = """
class D:
    class C:
        if X:
            y: int
    class E:
        x.y: int
    if X:
        z: int = 1
x[0]: int = 1
"""
AFTER_A_LOOP_OF_WITH = """
def f(a, b):
    while b:
        with a:
            g()
    if a:
        h()
    return 1
"""


@every_version
@pytest.mark.parametrize(
    "source",
    [
        SLICES,
        OPPOSITE_ARMS,
        TEXT_IN_RETURN,
        STARRED_SET,
        CLAUSES,
        ASSERT_IN_CLAUSE,
        CONDITIONAL_IN_FINALLY,
        FINALLY_IN_CLAUSE,
        CELLS_OF_ANNOTATIONS,
        CHAIN_AT_THE_END,
        AFTER_A_LOOP_OF_WITH,
    ],
)
def test_comes_back_exactly(source: str, version: tuple[int, int]) -> None:
    assert "state" not in exact(source, version)


YIELDS_OF_WALRUS = """
def f(a):
    yield (i := g())
    x = yield (i := g(i, i + 1))
    h((yield (i := a)), a=(yield (j := 1)))
    yield (a, (i := g()))
    yield from (i := g())
    return (yield (i := g()))
"""


@from_3_8
def test_a_yield_has_brackets_around_what_it_assigns(version: tuple[int, int]) -> None:
    exact(YIELDS_OF_WALRUS, version)


@pytest.mark.parametrize("version", interpreters.VERSIONS[4:], ids=interpreters.label)
def test_clauses_of_groups_that_do_nothing_stand_apart(version: tuple[int, int]) -> None:
    exact("try:\n    a\nexcept* b:\n    pass\nexcept* c:\n    pass\n", version)


@from_3_10
def test_a_break_stands_in_a_with(version: tuple[int, int]) -> None:
    assert "state" not in exact(BREAK_OUT_OF_WITH, version)


PATTERNS = [
    "case 0:\n        match b:\n            case [0]:\n                pass",
    "case B(z=[None, _, m.n] | b'b'):\n        pass",
    "case B(A(x=_, y=v) | (2j as v), z=E.A):\n        g(v)",
    "case [(1 as v) | [v], 0]:\n        g(v)",
    "case [E(value=C() as v), *_]:\n        match v:\n            case B(n='a' | 'b'):\n                return",
    "case {'k': _, None: []}:\n        pass\n    case _:\n        match q:\n            case {E.K: 0}: pass",
]


@from_3_10
@pytest.mark.parametrize("cases", PATTERNS)
@pytest.mark.parametrize("subject", ["q", "[*q]"])
def test_patterns_come_back(cases: str, subject: str, version: tuple[int, int]) -> None:
    body = f"match {subject}:\n    {cases}".replace("\n", "\n    ")
    assert "state" not in exact(f"def f(q, b):\n    {body}\n    return g()\n", version)
