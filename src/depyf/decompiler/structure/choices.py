"""The ways to structure ambiguous bytecode, in the order in which they are tried."""

from __future__ import annotations

import enum

from depyf.bytecode.records import dataclass


@dataclass(frozen=True, slots=True)
class Choices:
    """One way to structure code.

    shared_exits_inside: code between the blocks of a loop that leaves it belongs to the loop even if several blocks
        lead to it.
    goes_beyond: apparent fallthroughs after exits show the original nesting.
    joins_exits: copies of an exit are joined first.
    """

    shared_exits_inside: bool = True
    goes_beyond: bool = True
    joins_exits: bool = True


class Dispatch(enum.Enum):
    """A loop that dispatches on the number of a block, for code that fits no statement."""

    SCOPES = "a `try` for each handler"
    LEVELS = "one `try` for all handlers"


ORDER = (
    Choices(),
    Choices(shared_exits_inside=False),
    Choices(joins_exits=False),
    Choices(shared_exits_inside=False, joins_exits=False),
    Choices(goes_beyond=False),
    Choices(shared_exits_inside=False, goes_beyond=False),
    Choices(goes_beyond=False, joins_exits=False),
    Choices(shared_exits_inside=False, goes_beyond=False, joins_exits=False),
)
"""The ways that are tried until the control flow fits statements."""
WAYS: tuple[Choices | Dispatch, ...] = (*ORDER, *Dispatch)
"""All ways to make statements, in the order in which they are tried."""
