"""Functions that stand as constants in a source, for what an `except*` statement does and no statement says alone.

An `except*` parts an exception by the types of its clauses, handles each part in the place of the whole, and in the end
raises what its clauses raised together with what none of them took. SPLIT and GATHER are these two operations of the
interpreter (CHECK_EG_MATCH, PREP_RERAISE_STAR), each as the code of a function: what SPLIT lets be handled is handled
in its caller too, as functions share that.

GATHER asks whether an exception still has the traceback of the one that was caught. What THROW raises has one entry
more, of the frame that calls it; UNTRACE takes the last entry off the exception that is being handled.
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
    raise NotImplementedError("this interpreter has no groups of exceptions")


def _doing(frame: Function, name: str, replaced: str, op: str, arg: int = 0) -> Function:
    """Return a function like `frame` that does another operation in the place of the one that it does."""
    numbers = {name: number for number, name in FACTS[RUNNING].table.opcodes.items()}
    made = types.FunctionType(_fail.__code__, {})
    if op in numbers:
        units = bytearray(frame.__code__.co_code)
        place = 2 * units[::2].index(numbers[replaced])
        units[place : place + 2] = bytes((numbers[op], arg))
        made = types.FunctionType(frame.__code__.replace(co_code=bytes(units)), {})
    made.__name__ = made.__qualname__ = name
    return made


def _gathering() -> Function:
    table = FACTS[RUNNING].table
    if PREPARE in table.intrinsics_2:
        return _doing(_one, "gather", "IS_OP", "CALL_INTRINSIC_2", table.intrinsics_2.index(PREPARE))
    return _doing(_one, "gather", "IS_OP", "PREP_RERAISE_STAR")


def _untrace() -> None:
    """Forget the last frame that the exception being handled has passed."""
    exc = sys.exc_info()[1]
    if exc is not None and exc.__traceback__ is not None:
        exc.__traceback__ = exc.__traceback__.tb_next


SPLIT = _doing(_pair, "split", "UNARY_NEGATIVE", "CHECK_EG_MATCH")
"""Parts an exception by a type: gives what is left or None, and what the type matches, which is handled then, or None.
"""
GATHER = _gathering()
"""Returns what is to be raised, or None: of the exception that was caught, and of a list of what clauses raised."""
UNTRACE = _untrace
"""Undoes what THROW has added to the traceback of the exception that is being handled."""
UNTRACE.__name__ = UNTRACE.__qualname__ = "untrace"
