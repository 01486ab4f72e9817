"""Recursion without the interpreter's stack.

A recursive function is written as a generator that yields the calls it makes and returns its result; `run`
keeps the pending calls in a list, so that depth is bounded by memory alone.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

Result = TypeVar("Result")
Steps = Generator[Any, Any, Result]


def run(first: Steps[Result]) -> Result:
    """Run a generator that yields generators; each is resumed with the result of the yielded one."""
    stack: list[Steps[Any]] = [first]
    value: Any = None
    while stack:
        try:
            stack.append(stack[-1].send(value))
            value = None
        except StopIteration as stop:
            stack.pop()
            value = stop.value
    result: Result = value
    return result
