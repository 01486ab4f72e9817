"""The structured tree: statements, compound items, and jumps to labels.

A label is the index of a block. While the tree is built, control that leaves an item is a `Jump`. If its target has no
other entry, building fills the jump with the target's code. `structure/labels.py` turns the other jumps into `break`,
`continue`, `return` or nothing.
"""

from __future__ import annotations

import ast
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.decompiler.lift.extent import Extent
from depyf.decompiler.lift.nodes import Temp


@dataclass(slots=True, eq=False)
class Jump:
    """Go to a label; or, once filled, the code at the label.

    never: an apparent fallthrough: the compiler wrote code here although control never gets here; it is no statement.
    explicit: the source has a `break` or `continue` here.
    normal: the target when the previous loop ends normally, if only `break` reaches this jump.
    """

    label: int
    body: list[Item] | None = None
    never: bool = False
    explicit: bool = False
    normal: Jump | None = None


@dataclass(slots=True, eq=False)
class Label:
    """The place of a label in a sequence of items."""

    label: int


@dataclass(slots=True, eq=False)
class If:
    """A test; either arm may be empty.

    extent: the instructions that compute it. near: whether `body`, or `orelse`, comes next in the code; None: unknown.
    """

    test: ast.expr
    body: list[Item]
    orelse: list[Item]
    line: int | None = None
    extent: Extent | None = None
    near: bool | None = None


@dataclass(slots=True, eq=False)
class Loop:
    """`while test: body`; without a test, `while True`.

    `header` is the label that continues it, `done` its target when the test fails, `behind` the offset after the
    statement, or -1.
    """

    header: int
    test: ast.expr | None
    body: list[Item]
    done: int = -1
    orelse: list[Item] = field(default_factory=list)
    behind: int = -1
    line: int | None = None


@dataclass(slots=True, eq=False)
class For:
    """`for value in iterator: body`.

    `done` is its target when the iterator is exhausted, `behind` the offset after the statement, or -1.
    """

    header: int
    iterator: Temp
    value: Temp
    body: list[Item]
    done: int
    orelse: list[Item] = field(default_factory=list)
    behind: int = -1
    is_async: bool = False
    line: int | None = None


@dataclass(slots=True, eq=False)
class Try:
    """`try: body`, and its handler's code; `exc` is the exception's temporary.

    is_finally: the handler's code is that of a `finally`, and every exit of the body runs it.
    is_star: the handler's clauses are `except*`, which can only be left at their end.
    handled: the offset of the handler, if code is in the order of the source; else -1.
    """

    body: list[Item]
    handler: list[Item]
    exc: int
    is_finally: bool
    is_star: bool = False
    orelse: list[Item] = field(default_factory=list)
    handled: int = -1


@dataclass(slots=True, eq=False)
class WithBody:
    """The body of a `with` whose manager was entered by the previous statement.

    `suppressed` jumps to the target after an exception that the manager has suppressed.
    """

    body: list[Item]
    exit: int
    suppressed: list[Item]
    is_async: bool


Item = ast.stmt | Jump | Label | If | Loop | For | Try | WithBody


class Statement(ast.stmt):
    """One of the pipeline's own statements; its fields are given by name."""

    def __init__(self, **fields: object) -> None:
        self.__dict__ = fields


class Enter(Statement):
    """Enter a context manager: the head of a `with`. `exit` and `value` are temporaries."""

    _fields = ("manager",)
    manager: ast.expr
    exit: int
    value: int
    is_async: bool


class ReraiseStmt(Statement):
    """Raise the exception of a handler again: the implicit end of `except` chains and `finally`."""

    _fields = ()
    exc: int


def children(item: Item) -> list[list[Item]]:
    """Return the sequences inside an item, in source order."""
    match item:
        case Jump(_, body):
            return [body] if body is not None else []
        case If(_, body, orelse):
            return [body, orelse]
        case Loop() | For():
            return [item.body, item.orelse]
        case Try():
            return [item.body, item.orelse, item.handler]
        case WithBody():
            return [item.body, item.suppressed]
        case _:
            return []
