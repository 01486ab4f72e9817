"""EXACT on the versions with a block stack: where blocks are opened and closed counts too."""

from __future__ import annotations

import pytest

from depyf.verify.compare import verify
from depyf.verify.level import Level
from tests import interpreters
from tests.bytecode.listings import compiled, inner

INSIDE = """
def f(a):
    while True:
        try:
            if a():
                break
        except KeyError:
            break
"""
AROUND = """
def f(a):
    try:
        while True:
            if a():
                break
    except KeyError:
        pass
"""
BLOCK_STACK = [version for version in interpreters.VERSIONS if version < (3, 11)]


@pytest.mark.parametrize("version", BLOCK_STACK, ids=interpreters.label)
def test_a_try_in_a_loop_is_not_exactly_one_around_it(version: tuple[int, int]) -> None:
    first, other = (inner(compiled(source, version), "f") for source in (INSIDE, AROUND))
    assert verify(first, other).level is not Level.EXACT
    assert verify(first, first).level is verify(other, other).level is Level.EXACT


LEFT_INSIDE = """
def f(a, b):
    for x in a:
        try:
            if x:
                continue
            break
        finally:
            b()
"""
LEFT_BEHIND = """
def f(a, b):
    for x in a:
        try:
            if x:
                continue
        finally:
            b()
        break
"""


@pytest.mark.parametrize("version", [(3, 7), (3, 8)], ids=interpreters.label)
def test_a_break_in_a_try_is_not_exactly_one_behind_it(version: tuple[int, int]) -> None:
    first, other = (inner(compiled(source, version), "f") for source in (LEFT_INSIDE, LEFT_BEHIND))
    assert verify(first, other).level is Level.EQUIVALENT
    assert verify(first, first).level is verify(other, other).level is Level.EXACT
