"""A mutant is explained where a rule shows it to be the same program, and nowhere else."""

from __future__ import annotations

import ast
import sys
import textwrap
import types

import pytest

from tests.quality.mutate import compiled
from tests.quality.survivors.explain import explained
from tests.quality.survivors.walk import is_same_to_all


def dispatch(first: str, second: str, test: str) -> str:
    """Return a function that dispatches on the number of a block."""
    return f"""
def f(a):
    s = 0
    while True:
        if s == 0:
            if a():
                s = {first}
            else:
                s = {second}
        elif {test}:
            return a
        else:
            return 4
"""


SAME = {
    "what follows an endless loop": (
        "def f(a):\n while True:\n  a()\n",
        "def f(a):\n while True:\n  a()\n a()\n",
        "same instructions",
    ),
    "both arms are the same": (
        "def f(a):\n if a < 1:\n  x = 2\n else:\n  x = 2\n return x\n",
        "def f(a):\n if not a < 1:\n  x = 2\n else:\n  x = 2\n return x\n",
        "same to whoever looks",
    ),
    "bound on both ways": (
        "def f(a, b):\n if a:\n  x = 1\n else:\n  x = b\n y = x\n z = a[0]\n return y, z\n",
        "def f(a, b):\n if a:\n  x = 1\n else:\n  x = b\n z = a[0]\n y = x\n return y, z\n",
        "same to whoever looks",
    ),
    "the handler binds it first": (
        "def f(a):\n try:\n  x = 1\n  a()\n except E:\n  x = 2\n return x\n",
        "def f(a):\n try:\n  a()\n  x = 1\n except E:\n  x = 2\n return x\n",
        "same to whoever looks",
    ),
    "a function is made": (
        "def f(a):\n g = lambda: a\n x = a[0]\n return g, x\n",
        "def f(a):\n x = a[0]\n g = lambda: a\n return g, x\n",
        "same to whoever looks",
    ),
    "both are quiet, whoever looks": (
        "def f(a):\n x = y = 1\n x = a\n y = None\n return locals()\n",
        "def f(a):\n x = y = 1\n y = None\n x = a\n return locals()\n",
        "same to whoever looks",
    ),
    "a variable is unbound": (
        "def f(a, b):\n del b\n x = a[0]\n return x\n",
        "def f(a, b):\n x = a[0]\n del b\n return x\n",
        "same to whoever looks",
    ),
    "a list that nobody has seen grows": (
        "def f(a):\n x = [a][0:1]\n x.extend([a])\n y = a[0]\n return x, y\n",
        "def f(a):\n x = [a][0:1]\n y = a[0]\n x.extend([a])\n return x, y\n",
        "same to whoever looks",
    ),
    "the method of a list": (
        "def f(a):\n x = []\n add = x.append\n for b in a:\n  add(b)\n return x\n",
        "def f(a):\n x = []\n pass\n for b in a:\n  x.append(b)\n return x\n",
        "same to whoever looks",
    ),
    "right behind the copy": (
        "def f(a):\n b = a()\n b = b()\n c = b\n b = b.z\n return b, c\n",
        "def f(a):\n b = a()\n b = b()\n c = b\n b = c.z\n return b, c\n",
        "same to whoever looks",
    ),
    "a copy of a parameter": (
        "def f(a):\n b = a\n for c in a:\n  x = c(b)\n return x\n",
        "def f(a):\n b = a\n for c in a:\n  x = c(a)\n return x\n",
        "same to whoever looks",
    ),
    "only tested": (
        "def f(a):\n x = 0\n if a():\n  x = True\n if x:\n  a()\n",
        "def f(a):\n x = 0.0\n if a():\n  x = True\n if x:\n  a()\n",
        "same to whoever looks",
    ),
    "dead at the end": (
        "def f(a):\n try:\n  x = y = a()\n  y(x)\n finally:\n  x = y = None\n",
        "def f(a):\n try:\n  x = y = a()\n  y(x)\n finally:\n  pass\n",
        "same to whoever looks",
    ),
    "the number of a block, otherwise written": (
        dispatch("1", "2", "s == 1"),
        dispatch("1.0", "3", "1 == s"),
        "same to whoever looks",
    ),
    "a chained test of a number": (
        "def f(a):\n s = 9\n while 9 <= s < 10:\n  if a():\n   s = 1\n",
        "def f(a):\n s = 9\n while 9 <= s <= 10:\n  if a():\n   s = 2\n",
        "same to whoever looks",
    ),
    "behind a read that always fails": (
        "def f(a):\n if a:\n  x\n  a(1)\n return a\n if a:\n  x = 1\n",
        "def f(a):\n if a:\n  x\n  a(2)\n return a\n if a:\n  x = 1\n",
        "same to whoever looks",
    ),
    "a block that is numbered otherwise in a function inside": (
        "def f(a):\n def g(b):\n  s = 0\n  while s < 2:\n   if s == 1:\n    b()\n   s = s + 1\n return g\n",
        "def f(a):\n def g(b):\n  s = 0\n  while s < 2:\n   if 1 == s:\n    b()\n   s = s + 1\n return g\n",
        "same to whoever looks",
    ),
    "a number is computed": (
        "def f(a):\n b = 2\n c = 1\n d = a[0]\n b |= c\n return b, d\n",
        "def f(a):\n b = 2\n c = 1\n b |= c\n d = a[0]\n return b, d\n",
        "same to whoever looks",
    ),
    "somebody looks at something else": (
        "def f(a):\n x = []\n y = a(dir(a))\n return x, y\n",
        "def f(a):\n y = a(dir(a))\n x = []\n return x, y\n",
        "same to whoever looks",
    ),
    "a function inside has variables of its own": (
        "def f(a):\n def g(b):\n  for c in b:\n   x = 1\n return g, locals()\n",
        "def f(a):\n def g(b):\n  for c in b:\n   x = 2\n return g, locals()\n",
        "same to whoever looks",
    ),
    "the body of a loop twice": (
        "def f(a):\n while True:\n  yield a.x\n",
        "def f(a):\n while True:\n  yield a.x\n  yield a.x\n",
        "same to whoever looks",
    ),
    "a truth that was asked for": (
        "def f(a):\n not a\n not a\n return a\n",
        "def f(a):\n not a\n not a\n not a\n return a\n",
        "same to whoever looks",
    ),
    "an empty list is empty": (
        "def f(a):\n x = []\n while a():\n  if x:\n   a(1)\n return x\n",
        "def f(a):\n x = []\n while a():\n  if x:\n   a(2)\n return x\n",
        "same to whoever looks",
    ),
    "a dict that nobody has seen grows": (
        "def f(a):\n x = {'k': a}\n while a():\n  x.update({'n': a})\n  y = a[0]\n  a(y)\n return 1\n",
        "def f(a):\n x = {'k': a}\n while a():\n  y = a[0]\n  x.update({'n': a})\n  a(y)\n return 1\n",
        "same to whoever looks",
    ),
    "a set that cannot fail to be made": (
        "def f(a):\n try:\n  {*()}\n except E:\n  a(1)\n return a\n",
        "def f(a):\n try:\n  {*()}\n except E:\n  a(2)\n return a\n",
        "same to whoever looks",
    ),
    "what a read that fails stands beside": (
        "def f(a):\n if a[0]:\n  return a == x\n return a\n x = 1\n",
        "def f(a):\n if a[0]:\n  return x == a\n return a\n x = 1\n",
        "same to whoever looks",
    ),
    "a handler that raises again": (
        "def f(a):\n try:\n  a()\n except E:\n  a(1)\n  raise\n",
        "def f(a):\n try:\n  a()\n except E as e:\n  a(1)\n  raise\n",
        "same to whoever looks",
    ),
    "a function that is never made": (
        "def f(a):\n if a:\n  x\n  def g(): return 1\n  a(g)\n return a\n if a:\n  x = 1\n",
        "def f(a):\n if a:\n  x\n  def g(): return 2\n  a(g)\n return a\n if a:\n  x = 1\n",
        "same to whoever looks",
    ),
}

OTHER = {
    "a function that is made": (
        "def f(a):\n s = 0\n while s < 1:\n  a(lambda: 1)\n  s = 1\n",
        "def f(a):\n s = 0\n while s < 1:\n  a(lambda: 2)\n  s = 1\n",
    ),
    "the arms differ": (
        "def f(a):\n if a < 1:\n  x = 2\n else:\n  x = 3\n return x\n",
        "def f(a):\n if not a < 1:\n  x = 2\n else:\n  x = 3\n return x\n",
    ),
    "bound on one way": (
        "def f(a, b):\n if a:\n  x = 1\n y = x\n z = a[0]\n return y, z\n",
        "def f(a, b):\n if a:\n  x = 1\n z = a[0]\n y = x\n return y, z\n",
    ),
    "the handler reads it": (
        "def f(a):\n x = 0\n try:\n  x = 1\n  a()\n except E:\n  return x\n",
        "def f(a):\n x = 0\n try:\n  a()\n  x = 1\n except E:\n  return x\n",
    ),
    "what follows the handler reads it": (
        "def f(a):\n x = 0\n try:\n  x = 1\n  a()\n except E:\n  pass\n return x\n",
        "def f(a):\n x = 0\n try:\n  a()\n  x = 1\n except E:\n  pass\n return x\n",
    ),
    "an inner function shares it": (
        "def f(a):\n x = 1\n a(lambda: x)\n x = 2\n a()\n",
        "def f(a):\n x = 1\n a(lambda: x)\n a()\n x = 2\n",
    ),
    "somebody looks in between": (
        "def f(a):\n x = 1\n y = a(locals())\n return y\n",
        "def f(a):\n y = a(locals())\n x = 1\n return y\n",
    ),
    "a list that others have seen grows": (
        "def f(a):\n x = [a]\n a.x = x\n x.extend([a])\n y = a[0]\n return x, y\n",
        "def f(a):\n x = [a]\n a.x = x\n y = a[0]\n x.extend([a])\n return x, y\n",
    ),
    "a list that a loop has shown grows": (
        "def f(a):\n x = [a]\n for b in a:\n  x.append(a)\n  y = a[0]\n  a(x)\n return y\n",
        "def f(a):\n x = [a]\n for b in a:\n  y = a[0]\n  x.append(a)\n  a(x)\n return y\n",
    ),
    "the list is bound again": (
        "def f(a):\n x = []\n add = x.append\n for b in a:\n  add(b)\n  x = []\n return x\n",
        "def f(a):\n x = []\n pass\n for b in a:\n  x.append(b)\n  x = []\n return x\n",
    ),
    "no list": (
        "def f(a):\n x = a()\n add = x.append\n for b in a:\n  add(b)\n return x\n",
        "def f(a):\n x = a()\n pass\n for b in a:\n  x.append(b)\n return x\n",
    ),
    "a copy of what is bound again": (
        "def f(a):\n b = a\n a = a()\n x = a(b)\n return x\n",
        "def f(a):\n b = a\n a = a()\n x = a(a)\n return x\n",
    ),
    "tested and returned": (
        "def f(a):\n x = 0\n if x:\n  a()\n return x\n",
        "def f(a):\n x = 0.0\n if x:\n  a()\n return x\n",
    ),
    "another truth": (
        "def f(a):\n x = 0\n if a():\n  x = True\n if x:\n  a()\n",
        "def f(a):\n x = 1\n if a():\n  x = True\n if x:\n  a()\n",
    ),
    "the number of another block": (
        dispatch("1", "2", "s == 1"),
        dispatch("2", "1", "s == 1"),
    ),
    "a number that is returned": (
        "def f(a):\n s = 0\n if a():\n  s = 1\n return s\n",
        "def f(a):\n s = 0\n if a():\n  s = 1.0\n return s\n",
    ),
    "behind a read that may fail": (
        "def f(a):\n if a:\n  x = 1\n x\n a(1)\n",
        "def f(a):\n if a:\n  x = 1\n x\n a(2)\n",
    ),
    "somebody sees the order of variables": (
        "def f(a):\n x = a\n y = None\n return locals()\n",
        "def f(a):\n y = None\n x = a\n return locals()\n",
    ),
    "somebody looks at all": (
        "def f(a):\n x = []\n y = a(dir())\n return x, y\n",
        "def f(a):\n y = a(dir())\n x = []\n return x, y\n",
    ),
    "a function inside shows its variables": (
        "def f(a):\n def g(b):\n  for c in b:\n   x = 1\n  return locals()\n return g\n",
        "def f(a):\n def g(b):\n  for c in b:\n   x = 2\n  return locals()\n return g\n",
    ),
    "a number of which somebody else may say what it is": (
        "def f(a, b):\n c = 1\n d = a[0]\n b |= c\n return b, d\n",
        "def f(a, b):\n c = 1\n b |= c\n d = a[0]\n return b, d\n",
    ),
    "the body of a loop twice, asked once": (
        "def f(a):\n while a():\n  yield a.x\n",
        "def f(a):\n while a():\n  yield a.x\n  yield a.x\n",
    ),
    "a truth that may be another by now": (
        "def f(a):\n not a\n a()\n return a\n",
        "def f(a):\n not a\n a()\n not a\n return a\n",
    ),
    "an empty list that others fill": (
        "def f(a):\n x = []\n while a(x):\n  if x:\n   a(1)\n return x\n",
        "def f(a):\n x = []\n while a(x):\n  if x:\n   a(2)\n return x\n",
    ),
    "a dict whose keys are equal and not the same": (
        "def f(a):\n x = {1: a, True: 2}\n x.update({1: 3})\n return x\n",
        "def f(a):\n x = {1: 3, True: 2}\n return x\n",
    ),
    "a dict that others have seen grows": (
        "def f(a):\n x = {'k': a}\n while a(x):\n  x.update({'n': a})\n  y = a[0]\n  a(y)\n return 1\n",
        "def f(a):\n x = {'k': a}\n while a(x):\n  y = a[0]\n  x.update({'n': a})\n  a(y)\n return 1\n",
    ),
    "a set that may fail to be made": (
        "def f(a):\n try:\n  {*a}\n except E:\n  a(1)\n return a\n",
        "def f(a):\n try:\n  {*a}\n except E:\n  a(2)\n return a\n",
    ),
    "the same list, or another": (
        "def f(a):\n x = y = []\n a(x, y)\n",
        "def f(a):\n x = []\n y = []\n a(x, y)\n",
    ),
    "the order of two loads": (
        "def f(a):\n return a(x, y)\n",
        "def f(a):\n z = y\n return a(x, z)\n",
    ),
    "another exception is being handled": (
        "def f(a):\n try:\n  a()\n except E:\n  pass\n a(1)\n",
        "def f(a):\n try:\n  a()\n except E:\n  return a(1)\n a(1)\n",
    ),
    "a handler that catches more": (
        "def f(a):\n try:\n  x = a()\n except E:\n  return 1\n a(x)\n",
        "def f(a):\n try:\n  x = a()\n  a(x)\n except E:\n  return 1\n",
    ),
    "an unbound variable is unbound": (
        "def f(a):\n try:\n  x = a()\n except E:\n  pass\n return 1\n",
        "def f(a):\n try:\n  x = a()\n except E:\n  pass\n del x\n return 1\n",
    ),
    "no generator any more": (
        "def f(a):\n return a\n yield\n",
        "def f(a):\n return a\n",
    ),
    "numbers that are equal are one object": (
        "def f(a):\n x = 1000 if a else 1001\n y = 1000 if a else 1001\n return x is y\n",
        "def f(a):\n x = 1000 if a else 1001\n y = 1000 if a else 1001\n return y is x\n",
    ),
    "a loop that never ends": (
        "def f(a):\n a()\n return 1\n",
        "def f(a):\n a()\n while True:\n  pass\n",
    ),
    "a store that is read": (
        "def f(a):\n try:\n  x = a()\n finally:\n  x = None\n return x\n",
        "def f(a):\n try:\n  x = a()\n finally:\n  pass\n return x\n",
    ),
}


def reason(before: str, after: str) -> str | None:
    trees = [ast.parse(textwrap.dedent(text)).body[0] for text in (before, after)]
    assert isinstance(trees[0], ast.FunctionDef)
    assert isinstance(trees[1], ast.FunctionDef)
    codes = compiled(trees[0]), compiled(trees[1])
    assert codes[0] is not None
    assert codes[1] is not None
    return explained(trees[0], trees[1], (codes[0], codes[1]))


HANDLED = """
def f(a):
    try:
        a()
    except:
        {first}
        try:
            a(1)
        except:
            {second}
        {third}
        a(x)
"""


def handled(**places: str) -> types.CodeType:
    """Return code that asks for the exception being handled in one of the places."""
    text = HANDLED.format(**{"first": "pass", "second": "pass", "third": "pass", **places})
    code = compiled(ast.parse(text.replace("ASK", "'ask'()[1]")).body[0])  # type: ignore[arg-type]
    assert code is not None
    return code.replace(co_consts=tuple(sys.exc_info if const == "ask" else const for const in code.co_consts))


@pytest.mark.parametrize(("place", "is_same"), [("third", True), ("second", False)])
def test_which_exception_is_handled_is_asked_for_later(place: str, is_same: bool) -> None:
    codes = handled(first="x = ASK"), handled(**{place: "x = ASK"})
    assert is_same_to_all(codes, frozenset()) is is_same


@pytest.mark.parametrize("name", SAME)
def test_a_rule_explains_what_is_the_same(name: str) -> None:
    before, after, rule = SAME[name]
    assert reason(before, after) == rule


@pytest.mark.parametrize("name", OTHER)
def test_no_rule_explains_what_is_not(name: str) -> None:
    assert reason(*OTHER[name]) is None
