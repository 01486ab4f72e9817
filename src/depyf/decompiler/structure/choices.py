"""Where the bytecode leaves a choice: what is tried, in order."""

from __future__ import annotations

import enum
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choices:
    """One way to structure code.

    shared_exits_inside: code between the blocks of a loop that leaves it belongs to the loop also where several
        blocks lead to it.
    goes_beyond: where control only seems to go on behind an exit shows how statements stood.
    joins_exits: the copies of a way out are made one first.
    """

    shared_exits_inside: bool = True
    goes_beyond: bool = True
    joins_exits: bool = True


class Dispatch(enum.Enum):
    """A loop that dispatches on the number of a block, where no statement fits."""

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
"""What is tried until the control flow fits statements."""
WAYS: tuple[Choices | Dispatch, ...] = (*ORDER, *Dispatch)
"""All ways to make statements, in the order in which they are tried."""
