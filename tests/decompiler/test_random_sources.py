"""Sources that once failed or were not proven, found by random programs and shrunk to what shows the rule."""

from __future__ import annotations

import pytest

from depyf.bytecode.listings import Listings
from depyf.decompiler.graph.tac import Raise, Return
from depyf.decompiler.lift.simulate import lift
from depyf.decompiler.passes.unreached import ALL_REACHED, Unreached
from depyf.decompiler.structure.nests import find_markers
from depyf.decompiler.structure.same_tails import join_tails
from depyf.verify.compare import verify
from depyf.verify.level import Level
from tests import interpreters
from tests.bytecode.listings import compiled
from tests.decompiler.again import decompiled, exact

SINCE_3_11 = interpreters.VERSIONS[4:]

MATCHES = """
class A:
    match a:
        case {E.K: True, 'k': _}:
            g
    try:
        raise b
    except:
        pass
class B:
    match a:
        case b'b':
            pass
        case m.n:
            g()
class C:
    match a:
        case _ if a:
            pass
        case name:
            pass
class D:
    match a:
        case 1 | True if b:
            pass
        case v17:
            pass
class E:
    match a:
        case A(y=v6, z=v7) | B(y=v6, z=m(x=v8)) if a:
            pass
        case v8:
            raise
class F:
    match a:
        case a([v2] | m(y=v2)):
            pass
class G:
    match a:
        case [[v3, v4] | A(y=v3, z=v4), m(y=1.5, z=_)]:
            pass
def f():
    for b in a:
        match b:
            case 'a' | b'b' if a:
                pass
            case v3:
                return
def g(a, b):
    match a:
        case 'x':
            while b:
                f()
                break
            h(1)
        case m.n | {'k': _}:
            while b:
                g()
                break
            h(2)
""".replace("z=m(x=v8)", "z=m(x={}) as v7")
CLAUSES = """
try:
    a
except* a and a:
    pass
try:
    f()
except* (a or c) as e:
    g()
except* [x for x in y][0]:
    h()
"""
NEVER_REACHED = """
def f1(y):
    x = 1
    if 0:
        lambda: x
    return x
def f2(y):
    if 0:
        lambda: z
        z = 2
def f3():
    [a if 1 else (z := 2) for a in z]
    return z
lambda x: x if 1 else (lambda: x)
lambda x: x if 1 else (yield)
lambda x: z if 1 else (z := 1, z)
async def f4():
    (a if 1 else await a for a in z)
async def f5():
    return (a for a in z if 0 for b in (await z))
class A1:
    if 0:
        def f(self):
            super()
class A2:
    def f(self):
        lambda: [super for x in y if 0 if super()]
def f6(x):
    class A:
        x = 1
        if 0:
            lambda: x
def f7(x):
    assert 1, [x for y in z if (lambda: (x, y))]
def f8(x):
    while 0:
        lambda: x
    while 1:
        pass
    lambda: x
"""
NEVER_REACHED_IN_COMPREHENSIONS = """
{a: a for a in a if '' for a in a if {a for b in a}}
[a for a in a if c if () for c in a]
[a for a in a if [a for a in d] if f'' for d in a]
[a if 1 else (lambda: a) for a in b]
async def f(*, x=(a for a in a for a in (a async for a in a) if () async for a in a), **y):
    pass
"""
INLINED = """
{a for () in a}
{a: a for [] in a}
[a for a.x in a]
[[a for () in b] for c in d]
{a for () in b} | {c for d in e}
k = [a if b else {x for y in z}, [p for r in q]]
(a if b else [x for y in z])(**{x: y for z in w})
"""
CHAINS_AT_THE_END = """
class A:
    x = a < b < c
class B:
    x: a < b < c
class C:
    x[a < b < c] = a < b < c
class D:
    x.y = a < b < c
class E:
    del x[a < b < c]
class F:
    f(a < b < c)
class G:
    x += a < b < c
class H:
    (x := a < b < c)
class I:
    {**x, 'y': a < b < c}
class J:
    f'{a < b < c}'
class K:
    raise a < b < c
class L:
    raise a < a >= a from b < c < d
class M:
    raise (a if b else c) from d
class N:
    assert a, a is not 8 in a
class O:
    assert a, b if c else d
def f():
    return {'x': a < b < c}
def g(x: a is not b < c, /):
    pass
def h():
    for x in y:
        try:
            raise a or b
        except E:
            raise c if d else g
        finally:
            raise E or A
"""
STARS = """
{*(), a, a}
[*(), a]
{*(1, 2, 3), a}
{*()}
[*()]
"""
WAYS_OUT = """
def a():
    for b in a:
        break
    try:
        raise
    except:
        match a:
            case [2j]:
                pass
def b():
    for b in a:
        try:
            for b in a:
                return
            if a:
                return
            c()
        except:
            pass
        d
def c():
    try:
        f()
    except:
        try:
            return b
        except:
            match a:
                case [str(z='a')]:
                    pass
def l():
    while True:
        with c():
            if not k:
                break
            last = chunk
        h()
    for a in b.items():
        g(a)
def d():
    with a:
        if (a if b else c) is None:
            pass
def k():
    try:
        k = (a or b) or c
        return (a and b) and c
    except:
        pass
def e():
    with a:
        match a if b else c:
            case 0:
                pass
            case None:
                pass
match a:
    case str(y=a(x=v6, y={'k': 2j, E.K: _}) | v6):
        pass
"""


@pytest.mark.parametrize("version", SINCE_3_11, ids=interpreters.label)
@pytest.mark.parametrize(
    "source",
    [MATCHES, WAYS_OUT, CLAUSES, NEVER_REACHED, NEVER_REACHED_IN_COMPREHENSIONS, INLINED, CHAINS_AT_THE_END, STARS],
    ids=["matches", "ways-out", "clauses", "never-reached", "in-comprehensions", "inlined", "chains", "stars"],
)
def test_comes_back_exactly(source: str, version: tuple[int, int]) -> None:
    exact(source, version)


def test_a_comprehension_sees_a_name_that_its_module_declares() -> None:
    text = exact("global a\n[a for b in c]\n", (3, 12))
    assert text.startswith("global a\n")
    assert "global" not in exact("[a for b in c]\n", (3, 12))


def test_nothing_is_written_for_code_that_is_reached() -> None:
    assert ALL_REACHED.statements() == [] and ALL_REACHED.parts(binds=True) == []


def test_what_is_never_reached_is_written_once() -> None:
    (never,) = Unreached(bound=("x",), captured=("x", "y")).statements()
    assert len(never.body) == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize("version", [(3, 12), (3, 14)], ids=interpreters.label)
def test_copies_of_one_raise_are_joined_and_two_are_not(version: tuple[int, int]) -> None:
    assert raised("raise a if b else c", version) == (2, 1)
    assert raised("if b: raise a\nelse: raise a", version) == (2, 2)


def raised(source: str, version: tuple[int, int]) -> tuple[int, int]:
    """Return how many blocks raise before their ends are joined, and then."""
    graph = lift(Listings().with_lines(compiled(source, version)))
    counts = []
    for _ in range(2):
        counts.append(sum(isinstance(block.exit, Raise) for block in graph.live()))
        ends = [block for block in graph.live() if isinstance(block.exit, (Raise, Return))]
        join_tails(graph, ends, find_markers(graph))
    return counts[0], counts[1]


NESTED_ALTERNATIVES = """
def f(b):
    match b:
        case {} | (0 | m.n) if not b:
            pass
        case [*_, {**rest}, 'a']:
            pass
"""


@pytest.mark.parametrize("version", interpreters.VERSIONS[3:], ids=interpreters.label)
def test_alternatives_within_alternatives_are_alternatives(version: tuple[int, int]) -> None:
    """The subject waits once more for each `|` around another; the text has one `|` for all."""
    original = compiled(NESTED_ALTERNATIVES, version)
    text = decompiled(original)
    assert "case {} | 0 | m.n if not b:" in text
    assert verify(original, compiled(text, version)).level is not Level.UNPROVEN
