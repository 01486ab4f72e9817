"""Arrange the compiled functions in a tree of calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.model.run import Function
from depyf.model.user_line import UserLine

OF_TORCH = "torch/"
"""The prefix of torch's files in the index. Torch's own frames occur between any two of the user's."""


@dataclass(slots=True)
class Call:
    """A line of the user's program that called the entries below it."""

    line: UserLine
    calls: dict[UserLine, Call] = field(default_factory=dict)
    functions: list[Function] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Placed:
    """A call or a function, with its depth in the tree."""

    depth: int
    item: UserLine | Function


def call_tree(functions: Iterable[Function]) -> list[Placed]:
    """Return calls and functions, each after its caller, in the order in which they first occurred."""
    top = Call(UserLine("", 0))
    for function in functions:
        at = top
        for line in _callers(function):
            at = at.calls.setdefault(line, Call(line))
        at.functions.append(function)
    return list(_flat(top))


def _callers(function: Function) -> list[UserLine]:
    first = function.compiles[0].user_stack if function.compiles else ()
    return [line for line in first if not line.filename.startswith(OF_TORCH)]


def _flat(top: Call) -> Iterator[Placed]:
    pending: list[tuple[int, Call | Function]] = [(0, top)]
    while pending:
        depth, item = pending.pop()
        if isinstance(item, Function):
            yield Placed(depth, item)
            continue
        if item is not top:
            yield Placed(depth, item.line)
            depth += 1
        below: list[Call | Function] = [*item.functions, *item.calls.values()]
        pending += [(depth, item_below) for item_below in reversed(below)]
