"""An unfinished compile of a running or killed process, as plain data."""

from __future__ import annotations

from depyf.bytecode.records import dataclass
from depyf.model.codec import FLAG, NUMBER, TEXT, Record, Row

LOG = "running.jsonl"
SLOW = "slow_compile.txt"
"""The file of a dump with the Python stack of a compile that takes longer than the limit."""


@dataclass(frozen=True, slots=True)
class RunningCompile:
    """Its id, its function, the current phase of the compiler, and the seconds since it began.

    alive: whether the process is running. If not, the seconds count to the last record of the process.
    """

    id: str
    function: str
    phase: str
    seconds: float
    alive: bool

    @property
    def words(self) -> str:
        """Return the running compile, and its time so far."""
        where = f"`{self.function}` {self.id}, {self.phase}"
        if self.alive:
            return f"now compiling {where}, for {self.seconds:.0f} s"
        duration = f", at least {self.seconds:.0f} s after it began" if self.seconds >= 1 else ""
        return f"the process ended while compiling {where}{duration}"


RUNNING_ROWS = Record(
    RunningCompile,
    Row("id", TEXT),
    Row("function", TEXT),
    Row("phase", TEXT),
    Row("seconds", NUMBER),
    Row("alive", FLAG),
)
