"""What EQUIVALENT sees through, pair by pair; and the random programs that hold it to what runs."""

from __future__ import annotations

import ast
import random
import types
import warnings

import pytest

from depyf.bytecode.listing import Listing
from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from depyf.verify.assumptions import NO_ASSUMPTIONS
from depyf.verify.bisimulate import Bisimulation, bisimulate
from depyf.verify.compare import verify
from depyf.verify.flow import Flow
from depyf.verify.level import Level
from tests.quality.mutations import KINDS
from tests.verify.assemble import assemble, view
from tests.verify.random_programs import Writer, observe

DIRECT = """
def f(a, b):
    if a:
        while True:
            b = g(b)
            if not b:
                break
    else:
        b = h(b)
    return b
"""
DISPATCHED = """
def f(a, b):
    state = 0
    while True:
        if state == 0:
            if a:
                state = 1
            else:
                state = 2
        elif state == 1:
            b = g(b)
            if not b:
                state = 3
        elif state in (2,):
            b = h(b)
            state = 3
        else:
            return b
"""
HANDLED = """
def f(a, b):
    try:
        x = a()
    except KeyError as error:
        return b(error)
    finally:
        b()
    return x
"""
EQUIVALENT = {
    "a temporary": ("def f(a, b):\n x = a + b\n return x", "def f(a, b): return a + b"),
    "another order of moves": (
        "def f(a, b):\n x = a()\n y = b()\n return y, x",
        "def f(a, b):\n y, x = a(), b()\n return x, y",
    ),
    "a flag": (
        "def f(a, b):\n for i in a:\n  if i: break\n  b(i)\n else: return 3\n return 4",
        "def f(a, b):\n found = False\n for i in a:\n  if not i:\n   b(i)\n   continue\n  found = True\n  break\n"
        " if found: return 4\n return 3",
    ),
    "a dispatcher": (DIRECT, DISPATCHED),
    "a dispatcher, the other way round": (DISPATCHED, DIRECT),
    "a list taken apart": (
        "def f(a, b):\n x = [a(), b()]\n return g(*[x[1], *x[:1]])",
        "def f(a, b):\n x = a()\n y = b()\n return g(y, x)",
    ),
    "a slice put in": ("def f(a, b):\n x = [a]\n x[0:0] = [b, 1]\n del x[-1]\n return x", "def f(a, b): return [b, 1]"),
    "a dict taken apart": ("def f(a, b): return g(**{'x': a, 'y': b})", "def f(a, b): return g(x=a, y=b)"),
    "two ways to make a list": (
        "def f(a, b):\n x = []\n x += ()\n return [a, b]",
        "def f(a, b):\n x = []\n x += ()\n return [*(a, b)]",
    ),
    "unpacking what was packed": (
        "def f(a, b):\n (x, *y), z = (a, b, 1), b\n return x, y, z",
        "def f(a, b): return a, [b, 1], b",
    ),
    "another name of a caught exception": (HANDLED, HANDLED.replace("error", "other")),
    "a copied ending": (
        "def f(a, b):\n if a: b()\n return g(a)",
        "def f(a, b):\n if a:\n  b()\n  return g(a)\n return g(a)",
    ),
    "a loop that keeps a list": (
        "def f(a, b):\n x = []\n for y in a: x.append(y)\n return x",
        "def f(a, b):\n z = []\n for w in a:\n  q = w\n  z.append(q)\n return z",
    ),
    "a boolean kept": (
        "def f(a, b):\n x = not a\n if x: return b()\n return 1",
        "def f(a, b):\n if a: return 1\n return b()",
    ),
    "a test for None kept": (
        "def f(a, b):\n x = a is None\n b()\n return 1 if x else 2",
        "def f(a, b):\n c = a\n b()\n return 2 if c is not None else 1",
    ),
    "an inner function": (
        "def f(a, b):\n x = 1\n return lambda y: (y + x, b())",
        "def f(a, b):\n x = 1\n q = lambda y: (y + x, b())\n return q",
    ),
    "a method": ("def f(a, b): return a.b(b)", "def f(a, b):\n m = a.b\n return m(b)"),
    "the raise of what is handled": (
        "def f(a, b):\n try: a()\n finally: b()",
        "def f(a, b):\n try: a()\n except:\n  b()\n  raise\n b()",
    ),
    "a handler that only passes on": ("def f(a, b): a()", "def f(a, b):\n try: a()\n except: raise"),
    "a variable that is surely bound": (
        "def f(a, b):\n if a: x = 1\n else: x = 2\n return x",
        "def f(a, b):\n if a: return 1\n return 2",
    ),
    "a generator": ("def f(a, b):\n x = yield a\n yield x", "def f(a, b):\n y = (yield a)\n z = y\n yield z"),
    "with": ("def f(a, b):\n with a as x: b(x)", "def f(a, b):\n with a as y:\n  z = y\n  b(z)"),
    "f-strings": ("def f(a, b): return f'{a}-{b!r}'", "def f(a, b):\n x = f'{a}-{b!r}'\n return x"),
}
DIFFERENT = {
    "effects in another order": ("def f(a, b):\n a()\n b()", "def f(a, b):\n b()\n a()"),
    "a read moved over a call": ("def f(a, b):\n x = a.y\n b()\n return x", "def f(a, b):\n b()\n return a.y"),
    "a temporary evaluated twice": ("def f(a, b):\n x = a.y\n return x, x", "def f(a, b): return a.y, a.y"),
    "the wrong label": (DIRECT, DISPATCHED.replace("state in (2,)", "state in (3,)")),
    "a list made anew in each round": (
        "def f(a, b):\n x = []\n for y in a: x.append(y)\n return x",
        "def f(a, b):\n x = []\n for y in a:\n  x = []\n  x.append(y)\n return x",
    ),
    "a handler that swallows": ("def f(a, b): a()", "def f(a, b):\n try: a()\n except: pass"),
    "an item of another list": (
        "def f(a, b):\n x = [a]\n y = x\n y[0] = b\n return x",
        "def f(a, b):\n x = [a]\n y = [b]\n return x",
    ),
    "one step less protected": (
        "def f(a, b):\n try:\n  x = a()\n  b()\n except: return 1",
        "def f(a, b):\n try: x = a()\n except: return 1\n b()",
    ),
    "an unbound variable": ("def f(a, b):\n del a\n return a", "def f(a, b):\n del a\n return b"),
    "in place or not": ("def f(a, b):\n a += b\n return a", "def f(a, b): return a + b"),
    "an exception's variable": (
        "def f(a, b):\n try: a()\n except E as e: pass\n return e",
        "def f(a, b):\n try: a()\n except E as e: return e\n return e",
    ),
    "a comprehension's condition": (
        "def f(a, b): return [x for x in a if x]",
        "def f(a, b): return [x for x in a if not x]",
    ),
    "a default": ("def f(a, b): return lambda x=a: x", "def f(a, b): return lambda x=b: x"),
    "a sent value": ("def f(a, b):\n x = yield a\n yield x", "def f(a, b):\n x = yield a\n yield a"),
}


@pytest.mark.parametrize("what", EQUIVALENT)
def test_equivalent(what: str) -> None:
    first, other = (view(text) for text in EQUIVALENT[what])
    verdict = verify(first, other)
    assert verdict.level >= Level.EQUIVALENT, verdict


@pytest.mark.parametrize("what", DIFFERENT)
def test_different(what: str) -> None:
    first, other = (view(text) for text in DIFFERENT[what])
    verdict = verify(first, other)
    assert verdict.level is Level.UNPROVEN
    assert verdict.reason


def prove(original: Listing, candidate: Listing) -> str | None:
    """Return why two listings are not proven equivalent, or None."""
    return bisimulate(Flow(original), Flow(candidate), NO_ASSUMPTIONS).reason


def test_a_reason_names_both_places() -> None:
    reason = prove(
        assemble("LOAD_FAST a\nGET_ITER\nRETURN"), assemble("LOAD_FAST b\nPOP\nLOAD_FAST a\nGET_LEN\nRETURN")
    )
    assert reason == "GET_ITER is not GET_LEN (original offset 2 GET_ITER, candidate offset 6 GET_LEN)"


def test_what_is_iterated_over_is_an_iterator() -> None:
    steps = assemble("LOAD_FAST a\nnext: FOR_ITER end\nPOP\nJUMP next\nend: LOAD_FAST b\nRETURN")
    takes = assemble("LOAD_FAST a\nGET_ITER\nnext: FOR_ITER end\nPOP\nJUMP next\nend: LOAD_FAST b\nRETURN")
    assert prove(steps, takes) is None
    assert prove(takes, steps) is not None


def test_a_null_may_stand_anywhere() -> None:
    early = assemble("NULL\nLOAD_FAST a\nLOAD_FAST b\nGET_ITER\nCALL (1, 'below')\nRETURN")
    late = assemble("LOAD_FAST b\nGET_ITER\nNULL\nLOAD_FAST a\nSWAP 2\nSWAP 3\nCALL (1, 'below')\nRETURN")
    wrong = assemble("NULL\nLOAD_FAST b\nGET_ITER\nLOAD_FAST a\nCALL (1, 'below')\nRETURN")
    assert prove(early, wrong) is not None
    assert prove(early, late) is None


def test_an_offset_is_no_value() -> None:
    lasti = "protect handler 0 lasti\nLOAD_FAST a\nGET_ITER\nRETURN\nend\nhandler: {}\nRETURN"
    assert prove(assemble(lasti.format("SWAP 2")), assemble(lasti.format("SWAP 2"))) is not None
    assert prove(assemble(lasti.format("SWAP 1")), assemble(lasti.format("COPY 1"))) is None


def test_what_runs_off_the_end_or_underflows_is_unproven() -> None:
    for broken in ("LOAD_FAST a", "POP\nLOAD_FAST a\nRETURN", "loop: JUMP loop", "LOAD_FAST a\nSEND\nRETURN"):
        assert prove(assemble(broken), assemble(broken)) is not None, broken


def test_steps_grow_linearly() -> None:
    visits = []
    for size in (20, 40, 80):
        text = "def f(a, b):\n" + "".join(
            f" if a: x{n} = b({n})\n else: x{n} = a({n})\n for y in a: b(x{n})\n try: a.m({n})\n except K: b(y)\n"
            for n in range(size)
        )
        listing = normalise(view(text))
        walk = Bisimulation(Flow(listing), Flow(listing), NO_ASSUMPTIONS)
        budget = walk.visits
        walk.run()
        visits.append(budget - walk.visits)
    assert visits[2] < 2.3 * visits[1] < 5.3 * visits[0]


def compiled(text: str) -> types.CodeType:
    """Compile a function's text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = compile(text, "<random>", "exec", dont_inherit=True)
    return next(const for const in module.co_consts if isinstance(const, types.CodeType))


def runs(code: types.CodeType) -> list[list[object]]:
    """Return what can be observed of several calls."""
    return [observe(types.FunctionType(code, {"__builtins__": __builtins__}), seed) for seed in range(4)]


@pytest.mark.parametrize("block", range(3))
def test_what_is_proven_equivalent_runs_the_same(block: int) -> None:
    proven = different = 0
    for seed in range(20 * block, 20 * block + 20):
        text = Writer(seed).text()
        try:
            original = compiled(text)
        except SyntaxError:
            continue
        assert prove(normalise(read(original)), normalise(read(compiled("\n" + text)))) is None
        chance = random.Random(seed)
        for _ in range(6):
            tree = ast.parse(text)
            sites = list(KINDS[chance.choice(list(KINDS))](tree))
            if not sites:
                continue
            chance.choice(sites)()
            mutant = ast.unparse(ast.fix_missing_locations(tree))
            try:
                code = compiled(mutant)
            except SyntaxError:
                continue
            is_same = runs(original) == runs(code)
            is_proven = verify(read(original), read(code)).level > Level.UNPROVEN
            assert is_same or not is_proven, f"{text}\n{mutant}"
            proven += is_proven
            different += not is_same
    assert proven > 3 and different > 10


TESTED_AGAIN = """
def f(a, g):
    if a:
        return g(1)
    return g(2)
"""
FOR_EVER = """
def f(a, g):
    state = 0
    while True:
        if state == 0:
            if a:
                state = 1
            else:
                state = 2
        elif state == 1:
            return g(1)
        elif a:
            return g(2)
"""


def test_a_side_that_goes_round_alone_is_no_proof() -> None:
    # In the second text the last test is false whenever it is reached: the value was tested right before.
    verdict = verify(view(TESTED_AGAIN), view(FOR_EVER))
    assert verdict.level is Level.UNPROVEN
    verdict = verify(view(TESTED_AGAIN), view(FOR_EVER.replace("elif a:", "else:")))
    assert verdict.level is Level.EQUIVALENT


def returned(text: str, name: str) -> str:
    """Return a function that binds a variable of that name and returns the value of an expression."""
    return f"def f(x, g):\n    {name} = g\n    y = {text}\n    {name}(1)\n    return y\n"


@pytest.mark.parametrize("text", ["vars(x)", "dir(x)", "vars(x) == vars(g)"])
def test_what_looks_at_its_argument_sees_no_variables(text: str) -> None:
    assert verify(view(returned(text, "a")), view(returned(text, "b"))).level is Level.EQUIVALENT


@pytest.mark.parametrize(
    "text",
    ["vars()", "dir()", "locals()", "x(vars)", "x(vars, g)", "vars(*x)", "[vars][0]()", "vars(dir)", "vars(x), vars()"],
)
def test_what_may_look_at_the_frame_sees_variables(text: str) -> None:
    assert verify(view(returned(text, "a")), view(returned(text, "b"))).level is Level.UNPROVEN


ONE_FUNCTION = """
def f(items, g):
    def first():
        return g
    def second():
        return items
    for item in items:
        item(second())
    return second
"""


def test_a_function_is_not_taken_for_another() -> None:
    wrong = ONE_FUNCTION.replace("item(second())", "item(first())").replace("return second", "return first")
    assert verify(view(ONE_FUNCTION), view(wrong)).level is Level.UNPROVEN
