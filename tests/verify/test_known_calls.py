"""Calls of functions that stand as constants: what they are the same as, and what they are not."""

from __future__ import annotations

import sys

import pytest

from depyf.bytecode.known import ENTER, THROW
from depyf.bytecode.listing import Listing
from depyf.bytecode.normalise import normalise
from depyf.verify.assumptions import NO_ASSUMPTIONS
from depyf.verify.bisimulate import bisimulate
from depyf.verify.flow import Flow
from tests.verify.assemble import assemble, view

OBJECTS = {"iter_": iter, "exc_info_": sys.exc_info, "len_": len, "assertion_": AssertionError, "value_": ValueError}
OBJECTS.update(throw_=THROW, enter_=ENTER)
HANDLED = """
    protect handler 0
    LOAD_FAST a
    GET_ITER
    RETURN
    end
    handler: PUSH_EXC_INFO
    SWAP 2
    POP_EXCEPT
    RETURN
"""
AGAIN = """
    protect handler 0
    LOAD_FAST a
    GET_ITER
    RETURN
    end
    handler: RERAISE 0
"""
THROWN = "def f(a, b):\n try: return iter_(a)\n except: e = exc_info_()[1]\n {}(e)"
CAUGHT = "def f(a, b):\n try: return iter_(a)\n except: return {}"


def source(text: str) -> Listing:
    """Return the listing of a function in which names that stand for objects are constants."""
    listing = normalise(view(text))
    for item in listing.instructions:
        if item.op == "LOAD_GLOBAL" and item.arg in OBJECTS:
            item.op, item.arg = "CONST", OBJECTS[str(item.arg)]
    return listing


def proven(original: Listing, candidate: Listing) -> bool:
    """Return whether two listings are proven equivalent."""
    return bisimulate(Flow(original), Flow(candidate), NO_ASSUMPTIONS).reason is None


@pytest.mark.parametrize(
    ("original", "text"),
    [
        ("LOAD_FAST a\nGET_ITER\nRETURN", "def f(a, b): return iter_(a)"),
        (HANDLED, CAUGHT.format("exc_info_()[1]")),
        ("LOAD_COMMON AssertionError\nRETURN", "def f(a, b): return assertion_"),
        (AGAIN, THROWN.format("throw_")),
        ("LOAD_FAST a\nENTER_WITH\nSWAP 2\nBUILD_TUPLE 2\nRETURN", "def f(a, b):\n x, y = enter_(a)\n return y, x"),
    ],
)
def test_a_constant_builtin_is_what_its_operation_is(original: str, text: str) -> None:
    assert proven(assemble(original), source(text))


@pytest.mark.parametrize(
    ("original", "text"),
    [
        (AGAIN, THROWN.format("raise ")),
        (AGAIN, THROWN.format("len_")),
        ("LOAD_FAST a\nRAISE 1", "def f(a, b): throw_(a)"),
        ("LOAD_FAST a\nENTER_WITH\nSWAP 2\nBUILD_TUPLE 2\nRETURN", "def f(a, b): return enter_(a)"),
        ("LOAD_FAST a\nGET_ITER\nRETURN", "def f(a, b): return iter(a)"),
        ("LOAD_FAST a\nGET_ITER\nRETURN", "def f(a, b): return len_(a)"),
        ("LOAD_FAST a\nGET_ITER\nRETURN", "def f(a, b): return iter_(b)"),
        ("LOAD_FAST a\nGET_ITER\nRETURN", "def f(a, b): return iter_(a, b)"),
        (HANDLED, CAUGHT.format("exc_info_()[0]")),
        (HANDLED, CAUGHT.format("exc_info()[1]")),
        (HANDLED, "def f(a, b):\n try: return iter_(a)\n except: pass\n return exc_info_()[1]"),
        ("LOAD_COMMON AssertionError\nRETURN", "def f(a, b): return AssertionError"),
        ("LOAD_COMMON AssertionError\nRETURN", "def f(a, b): return value_"),
    ],
)
def test_anything_else_is_not(original: str, text: str) -> None:
    assert not proven(assemble(original), source(text))


LEFT = """
    protect handler 0
    LOAD_FAST a
    GET_ITER
    RETURN
    end
    handler: PUSH_EXC_INFO
    protect restore 1 lasti
    LOAD_FAST b
    SWAP 2
    WITH_EXCEPT_START 2
    SWAP 4
    end
    POP_EXCEPT
    POP
    POP
    RETURN
    restore: COPY 3
    POP_EXCEPT
    RERAISE 1
"""


def test_the_exit_of_a_manager_is_called_with_the_exception() -> None:
    assert proven(assemble(LEFT), source(CAUGHT.format("b(*exc_info_())")))
    assert not proven(assemble(LEFT), source(CAUGHT.format("b(None, None, None)")))
    assert not proven(assemble(LEFT), source(CAUGHT.format("a(*exc_info_())")))
