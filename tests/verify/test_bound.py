"""Builtins that a module's text binds first are constants to the proof, unless the program could see the names."""

from __future__ import annotations

import pytest

from depyf.bytecode.reader import read
from depyf.decompiler.module import judge
from depyf.verify.level import Level

ORIGINAL = "def f(x):\n    for a in x:\n        g(a)\n"
TEXT = "from builtins import iter as it\n" + ORIGINAL


def level(original: str, text: str) -> Level:
    """Return what is proven of a text."""
    return judge(read(compile(original, "<test>", "exec")), text).level


def test_a_name_that_nothing_sees_is_no_difference() -> None:
    assert level(ORIGINAL, TEXT) is Level.EQUIVALENT


def test_what_is_bound_is_a_constant() -> None:
    text = "from builtins import AssertionError as e\ndef f(x):\n    if not x:\n        raise e\n"
    assert level("def f(x):\n    assert x\n", text) is Level.EQUIVALENT


RAISING = "def f(x):\n    try:\n        g()\n    except BaseException:\n        raise\n"
THROWING = RAISING.replace("raise\n", "it(info()[1])\n")


def test_functions_for_operations_are_constants() -> None:
    bound = "from depyf.bytecode.known import {} as it\nfrom sys import exc_info as info\n"
    assert level(RAISING, bound.format("THROW") + THROWING) is Level.EQUIVALENT
    assert level(RAISING, bound.format("ENTER") + THROWING) is Level.UNPROVEN
    assert level(RAISING, bound.format("THROW").replace("known", "code") + THROWING) is Level.UNPROVEN


@pytest.mark.parametrize(
    "original",
    ["it = 1\n", "def h():\n    return it\n", "globals()\n", "a.it\n", "g('it')\n", "eval(x)\n"],
)
def test_a_name_that_the_program_could_see_is_one(original: str) -> None:
    assert level(ORIGINAL + original, TEXT + original) is Level.UNPROVEN


@pytest.mark.parametrize("stored", ["it = 1\n", "del it\n", "def h():\n    global it\n    it = 2\n"])
def test_a_name_that_is_stored_again_is_one(stored: str) -> None:
    assert level(ORIGINAL, TEXT + stored) is Level.UNPROVEN


def test_an_import_of_anything_else_is_one() -> None:
    assert level(ORIGINAL, "from os import path as it\n" + ORIGINAL) is Level.UNPROVEN


def test_a_class_may_have_another_object_of_that_name() -> None:
    original = "class A(metaclass=m):\n    a = x()\n"
    assert level(original, "from builtins import iter as it\nclass A(metaclass=m):\n    a = it()\n") is Level.UNPROVEN
