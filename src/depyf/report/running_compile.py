"""A compile that goes on, or that its process did not live to end. Plain data."""

from __future__ import annotations

from dataclasses import dataclass

LOG = "running.jsonl"
SLOW = "slow_compile.txt"
"""The file of a dump with the Python stack of a compile that takes longer than the limit."""


@dataclass(frozen=True, slots=True)
class RunningCompile:
    """Its id, its function, the part of the compiler that it is in, and the seconds since it began.

    `alive` tells whether the process lives; where not, the seconds are those until the last that it told.
    """

    id: str
    function: str
    phase: str
    seconds: float
    alive: bool

    @property
    def words(self) -> str:
        """Return what is compiled, and for how long."""
        where = f"`{self.function}` {self.id}, {self.phase}"
        if self.alive:
            return f"now compiling {where}, for {self.seconds:.0f} s"
        told = f", at least {self.seconds:.0f} s after that began" if self.seconds >= 1 else ""
        return f"the process ended while it compiled {where}{told}"
