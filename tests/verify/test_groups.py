"""Groups of exceptions: which calls are the operations of `except*`, and that tracebacks count where groups are
gathered."""

from __future__ import annotations

import sys

import pytest

from depyf.bytecode.known import THROW
from depyf.bytecode.known_groups import GATHER, SPLIT, UNTRACE
from depyf.bytecode.listing import Listing
from depyf.bytecode.normalise import normalise
from depyf.verify.assumptions import NO_ASSUMPTIONS
from depyf.verify.bisimulate import bisimulate
from depyf.verify.flow import Flow
from tests.verify.assemble import assemble, view

OBJECTS = {
    "stop_": StopAsyncIteration,
    "split_": SPLIT,
    "gather_": GATHER,
    "untrace_": UNTRACE,
    "throw_": THROW,
    "exc_info_": sys.exc_info,
}
PARTED = """
    protect handler 0
    LOAD_FAST a
    GET_ITER
    RETURN
    end
    handler: PUSH_EXC_INFO
    protect cleanup 1
    LOAD_FAST b
    CHECK_EG_MATCH
    {}
    POP
    end
    SWAP 2
    POP_EXCEPT
    RETURN
    cleanup: COPY 2
    POP_EXCEPT
    RERAISE 0
"""
CAUGHT = "def f(a, b):\n try: return iter(a)\n except:\n  {}\n  return {}"
GATHERED = """
    LOAD_FAST a
    BUILD_LIST 0
    PREP_RERAISE_STAR
    RETURN
"""
THROWN = """
    protect first 0
    LOAD_FAST a
    GET_ITER
    RETURN
    end
    first: PUSH_EXC_INFO
    SWAP 2
    POP_EXCEPT
    protect second 0
    RERAISE 0
    end
    second: PUSH_EXC_INFO
    protect cleanup 1
    BUILD_LIST 0
    {}
    end
    SWAP 2
    POP_EXCEPT
    RETURN
    cleanup: COPY 2
    POP_EXCEPT
    RERAISE 0
"""
AGAIN = """def f(a, b):
 try: return iter(a)
 except: e = exc_info_()[1]
 try: throw_(e)
 except:
  {}
  return {}
"""
ENDED = """
    protect first 0
    LOAD_FAST a
    GET_ITER
    RETURN
    end
    first: PUSH_EXC_INFO
    SWAP 2
    POP_EXCEPT
    CONST None
    SWAP 2
    END_ASYNC_FOR
    LOAD_FAST b
    BUILD_LIST 0
    PREP_RERAISE_STAR
    RETURN
"""
TESTED = """def f(a, b):
 try: return iter(a)
 except: e = exc_info_()[1]
 try: throw_({})
 except {}: untrace_()
 return gather_(b, [])
"""


def source(text: str) -> Listing:
    """Return the listing of a function in which names that stand for objects are constants."""
    listing = normalise(view(text))
    for item in listing.instructions:
        if item.op == "LOAD_GLOBAL" and item.arg in {**OBJECTS, "iter": iter}:
            item.op, item.arg = "CONST", {**OBJECTS, "iter": iter}[str(item.arg)]
    return listing


def proven(original: str, candidate: str) -> bool:
    """Return whether a text is proven to do what operations do."""
    return bisimulate(Flow(assemble(original)), Flow(source(candidate)), NO_ASSUMPTIONS).reason is None


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ("r, m = split_(exc_info_()[1], b)", True),
        ("m, r = split_(exc_info_()[1], b)", False),
        ("r, m = split_(exc_info_()[1], a)", False),
        ("r, m = split_(b, exc_info_()[1])", False),
    ],
)
def test_parting_is_a_call(changed: str, same: bool) -> None:
    assert proven(PARTED.format(""), CAUGHT.format(changed, "r")) == same


def test_what_is_parted_is_handled_from_there_on() -> None:
    ask = "LOAD_GLOBAL g\nPOP"
    split_call = "r, m = split_(exc_info_()[1], b); g"
    assert proven(PARTED.format(ask), CAUGHT.format(split_call, "r"))
    assert not proven(PARTED.format(ask), CAUGHT.format("g; r, m = split_(exc_info_()[1], b)", "r"))


@pytest.mark.parametrize(
    ("text", "same"), [("gather_(a, [])", True), ("gather_([], a)", False), ("gather_(b, [])", False)]
)
def test_gathering_is_a_call(text: str, same: bool) -> None:
    assert proven(GATHERED, f"def f(a, b): return {text}") == same


@pytest.mark.parametrize(
    ("first", "value", "same"),
    [
        ("untrace_()", "gather_(e, [])", True),
        ("pass", "gather_(e, [])", False),
        ("untrace_(); untrace_()", "gather_(e, [])", False),
    ],
)
def test_a_traceback_must_be_what_it_was_where_groups_are_gathered(first: str, value: str, same: bool) -> None:
    assert proven(THROWN.format("PREP_RERAISE_STAR"), AGAIN.format(first, value)) == same


def test_elsewhere_nobody_asks_for_tracebacks() -> None:
    assert proven(THROWN.format("POP"), AGAIN.format("pass", "e"))
    assert not proven(THROWN.format("POP"), AGAIN.format("untrace_()", "e"))


@pytest.mark.parametrize(
    ("thrown", "kind", "same"), [("e", "stop_", True), ("e", "StopAsyncIteration", False), ("b", "stop_", False)]
)
def test_what_was_thrown_is_of_the_class_that_it_was_of(thrown: str, kind: str, same: bool) -> None:
    assert proven(ENDED, TESTED.format(thrown, kind)) == same
