"""Where the bytecode leaves a choice: what is tried, in order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choices:
    """One way to structure code.

    shared_exits_inside: code between the blocks of a loop that leaves it belongs to the loop also where several
        blocks lead to it.
    """

    shared_exits_inside: bool = True


ORDER = (Choices(), Choices(shared_exits_inside=False))
"""What is tried until the control flow fits statements."""
