"""Functions that are constants in a source, for the parts of `except*` that have no statement of their own.

An `except*` splits an exception by the types of its clauses, and handles each part instead of the whole. At the end it
raises the exceptions of its clauses together with the unhandled rest. SPLIT and GATHER are these two operations of the
interpreter (CHECK_EG_MATCH, PREP_RERAISE_STAR) as functions. Functions share the exception being handled with their
caller, so the part that SPLIT handles is handled in the caller too.

GATHER checks whether an exception still has the traceback of the caught one. An exception raised by THROW has one more
entry, for the frame that calls THROW; UNTRACE removes the last entry from the exception being handled.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

from depyf.bytecode.versions.known import FACTS
from depyf.bytecode.versions.running import RUNNING

PREPARE = "INTRINSIC_PREP_RERAISE_STAR"
Function = Callable[[Any, Any], Any]


def _pair(first: Any, second: Any) -> object:  # noqa: ANN401  (of any type)
    return first, -second


def _one(first: Any, second: Any) -> object:  # noqa: ANN401  (likewise)
    return first is second


def _fail(first: object, second: object) -> object:
    raise NotImplementedError("this interpreter has no exception groups")


def _doing(frame: Function, name: str, replaced: str, op: str, arg: int = 0) -> Function:
    """Return a function like `frame`, with one of its operations replaced by another."""
    numbers = {name: number for number, name in FACTS[RUNNING].table.opcodes.items()}
    function = types.FunctionType(_fail.__code__, {})
    if op in numbers:
        units = bytearray(frame.__code__.co_code)
        place = 2 * units[::2].index(numbers[replaced])
        units[place : place + 2] = bytes((numbers[op], arg))
        function = types.FunctionType(frame.__code__.replace(co_code=bytes(units)), {})
    function.__name__ = function.__qualname__ = name
    return function


def _gathering() -> Function:
    table = FACTS[RUNNING].table
    if PREPARE in table.intrinsics_2:
        return _doing(_one, "gather", "IS_OP", "CALL_INTRINSIC_2", table.intrinsics_2.index(PREPARE))
    return _doing(_one, "gather", "IS_OP", "PREP_RERAISE_STAR")


def _untrace() -> None:
    """Remove the last frame from the traceback of the exception being handled."""
    exc = sys.exc_info()[1]
    if exc is not None and exc.__traceback__ is not None:
        exc.__traceback__ = exc.__traceback__.tb_next


SPLIT = _doing(_pair, "split", "UNARY_NEGATIVE", "CHECK_EG_MATCH")
"""Splits an exception by a type: returns the rest or None, and the match or None. The match is then being handled."""
GATHER = _gathering()
"""Returns the exception to raise, or None, from the caught exception and the list of the clauses' exceptions."""
UNTRACE = _untrace
"""Removes THROW's entry from the traceback of the exception being handled."""
UNTRACE.__name__ = UNTRACE.__qualname__ = "untrace"
