"""Where a text runs in the place of code, nothing lives longer in it: the proof says so, and so do weak references."""

from __future__ import annotations

import marshal
import subprocess
import sys
import types
import weakref
from pathlib import Path

import pytest

from depyf.api import decompile_code
from depyf.bytecode.reader import read
from depyf.verify.assumptions import Assumptions
from depyf.verify.candidate.recompile import recompile
from depyf.verify.compare import verify
from depyf.verify.level import Level
from tests.verify.assemble import code_of, view

ROOT = Path(__file__).resolve().parents[2]
IN_PLACE = Assumptions(in_place=True)
KEPT = (
    ("the result of a call while another runs", "h(g(x))", "y = g(x)\n h(y)"),
    ("a result that nobody reads", "g(x)\n h()", "y = g(x)\n h()"),
    ("a variable that was deleted", "y = g(x)\n del y\n h()", "y = g(x)\n h()"),
    ("a variable that was bound anew", "y = g(x)\n y = None\n h()", "y = g(x)\n z = None\n h()"),
    ("an item of a tuple", "y = g(x)\n z = (y, x)\n del y, z\n h()", "y = g(x)\n z = (y, x)\n del y\n h()"),
    ("an item of a new list", "h([g(x)])\n h()", "y = [g(x)]\n h(y)\n h()"),
    ("what a loop went through", "for y in g(x): h(y)\n y = None\n h()", "for y in g(x): h(y)\n h()"),
    ("what was tested", "if g(x): h()", "y = g(x)\n if y: h()"),
    ("a parameter that was deleted", "y = g(x)\n del x\n h(y)", "y = g(x)\n h(y)"),
    ("an iterator", "for y in g(x): h()\n h()", "i = iter(g(x))\n for y in i: h()\n h()"),
)


@pytest.mark.parametrize(("original", "candidate"), [case[1:] for case in KEPT], ids=[case[0] for case in KEPT])
def test_a_value_that_lives_longer_is_not_proven(original: str, candidate: str) -> None:
    mine, its = (view(f"def f(x, g, h, iter=iter):\n {body}\n return h") for body in (original, candidate))
    verdict = verify(mine, its, IN_PLACE)
    assert verdict.level is Level.UNPROVEN


@pytest.mark.parametrize(("original", "candidate"), [case[1:] for case in KEPT[:9]], ids=[case[0] for case in KEPT[:9]])
def test_a_value_may_live_shorter_or_in_a_text_that_is_only_read(original: str, candidate: str) -> None:
    mine, its = (view(f"def f(x, g, h):\n {body}\n return h") for body in (original, candidate))
    assert verify(mine, its).level is not Level.UNPROVEN
    assert verify(its, mine, IN_PLACE).level is not Level.UNPROVEN


def test_variables_that_hold_the_same_under_other_names_are_proven() -> None:
    mine, its = view("def f(x):\n y = g(x)\n h()\n return y"), view("def f(x):\n z = g(x)\n h()\n return z")
    assert verify(mine, its, IN_PLACE).level is Level.EQUIVALENT


class Tensor:
    """Something that takes memory."""


ON_STACK = "def f(make, use):\n return use(*[make(), use][::-1])"
NAMED = "def f(make, use):\n    value = make()\n    return use(use, value)\n"


PROGRAM = """
import marshal, sys
from tests.verify.test_lifetimes import run_here
print(run_here(marshal.loads(sys.stdin.buffer.read())))
"""


def run(code: types.CodeType) -> str:
    """Return what `run_here` returns in a new process.

    Where a hook evaluates frames, as Dynamo's may in this one, callers keep the arguments of Python functions alive.
    """
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, input=marshal.dumps(code), cwd=ROOT, capture_output=True, check=True)
    return done.stdout.decode().strip()


def run_here(code: types.CodeType) -> list[bool]:
    """Return whether what a function makes is alive while what it calls has dropped it, and behind that."""
    references: list[weakref.ref[Tensor]] = []

    def make() -> Tensor:
        value = Tensor()
        references.append(weakref.ref(value))
        return value

    def use(first: object, value: object) -> bool:
        del first, value
        return references[0]() is not None

    alive = types.FunctionType(code, {})(make, use)
    return [alive, references[0]() is not None]


def test_a_variable_goes_where_it_is_read_for_the_last_time() -> None:
    original = code_of(ON_STACK)
    holds, lets_go = (recompile(NAMED, original, filename="f", placeholders={}, lets_go=go) for go in (False, True))
    assert run(holds) == "[True, False]"
    assert run(lets_go) == "[False, False]"


@pytest.mark.parametrize(
    "body",
    [
        "for i in a: y = g(i); h(y)\n return y",
        "y = g(a)\n if y: return h(y)\n return g(y, y)",
        "y = g(a)\n try: return h(y)\n finally: g(y)",
        "y = g(a)\n try: h(y)\n except E: g(y)\n return [y for q in y if (lambda: y)]",
        "y = g(a)\n while h(y): g(y)\n y = h()\n return y + y",
        "y = g(a)\n y += 1\n with y as z: h(z)\n return f'{y}{z}'",
        "y = z = g(a)\n z = h(y, z)\n del y\n return h(z)",
    ],
)
def test_letting_go_changes_nothing_that_a_program_reads(body: str) -> None:
    text = f"def f(a):\n {body}\n"
    code = code_of(text)
    assert verify(view(text), read(recompile(text, code, filename="f", placeholders={}, lets_go=True))).level


def test_a_function_that_is_decompiled_to_run_in_place_is_proven_to_hold_nothing_longer() -> None:
    decompiled = decompile_code(code_of(ON_STACK), simplify=True, assumptions=IN_PLACE)
    assert decompiled.level is not Level.UNPROVEN and decompiled.compiled is not None
    assert run(decompiled.compiled) == "[False, False]"
