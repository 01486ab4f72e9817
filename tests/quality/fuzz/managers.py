"""Operations that enter managers and leave them: what they do to kinds, and how they are written.

What leaves a manager is of kind `x`, or of kind `z` if that must be awaited; where the interpreter keeps the manager
beside it, that is of kind `y` and above it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.quality.fuzz.lowering import Lowering
from tests.quality.fuzz.stack import Stack

SPECIAL_METHODS = {False: ("__enter__", "__exit__"), True: ("__aenter__", "__aexit__")}


def exit_kinds(*, pairs: bool, is_async: bool) -> tuple[str, ...]:
    """Return the kinds of what leaves a manager."""
    return ("z" if is_async else "x", *("y" if pairs else ""))


def enter(is_async: bool) -> Callable[[Stack, Any], None]:
    """Return the effect of entering a manager; the argument says whether it stays beside its exit."""

    def effect(stack: Stack, arg: bool) -> None:
        stack.pop("o")
        stack.push(*exit_kinds(pairs=arg, is_async=is_async), "o")

    return effect


def leave(stack: Stack, arg: bool) -> None:
    """LEAVE: the call of an exit when nothing was raised."""
    if arg:
        stack.pop("y")
    stack.push("v" if stack.pop("xz") == "x" else "o")


def ask_exit(stack: Stack, arg: bool) -> None:
    """WITH_EXCEPT_START: the exit, the offset, what was being handled, and the exception that is."""
    wanted = "lpe"
    if any(stack.at(depth) != kind for depth, kind in enumerate(reversed(wanted), 1)):
        raise stack.invalid
    if arg and stack.at(4) != "y" or stack.at(4 + arg) not in "xz":
        raise stack.invalid
    stack.push("v" if stack.at(4 + arg) == "x" else "o")


def _enter(is_async: bool) -> Callable[[Lowering, Any], None]:
    def write(low: Lowering, arg: bool) -> None:
        if low.has("LOAD_SPECIAL"):
            first, last = (low.facts.table.specials.index(name) for name in SPECIAL_METHODS[is_async])
            low.put("COPY", 1)
            low.put("LOAD_SPECIAL", last)
            low.put("SWAP", 2)
            low.put("SWAP", 3)
            low.put("LOAD_SPECIAL", first)
            low.put("CALL", 0)
        elif is_async:
            low.put("BEFORE_ASYNC_WITH")
        elif low.has("BEFORE_WITH"):
            low.put("BEFORE_WITH")
        else:
            low.put("SETUP_WITH", target=low.pad((), "again", 0))
            low.put("POP_BLOCK")

    return write


def _leave(low: Lowering, arg: bool) -> None:
    for _ in range(3):
        low.put("LOAD_CONST", low.const(None))
    if low.has("CALL_FUNCTION"):
        low.put("CALL_FUNCTION", 3)
        return
    count = 3 if low.has("LOAD_SPECIAL") else 2
    if low.has("PRECALL"):
        low.put("PRECALL", count)
    low.put("CALL", count)


LOWERING: dict[str, Callable[[Lowering, Any], None]] = {
    "ENTER": _enter(False),
    "ENTER_ASYNC": _enter(True),
    "LEAVE": _leave,
    "WITH_EXCEPT_START": lambda low, arg: low.put("WITH_EXCEPT_START"),
}
