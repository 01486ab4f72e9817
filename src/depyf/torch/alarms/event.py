"""One compile that a watch reports, and the totals of all of them."""

from __future__ import annotations

import os
from enum import Enum

from depyf.bytecode.records import dataclass
from depyf.model.names import resumed_function

MOST_CAUSES = 4
"""The most causes in the text of an event. A function with many entries fails in each of them."""


class Kind(Enum):
    """The kind of a compile."""

    FIRST = "first compile"
    RECOMPILE = "recompile"
    LIMIT = "recompile limit"
    """Dynamo stopped to compile a function, which runs in Python from now on."""


@dataclass(frozen=True, slots=True)
class CompileEvent:
    """A compile, or a function that reached the recompile limit.

    compile: torch's id, such as `0/3`; "" for LIMIT.
    function: the name of the compiled function.
    file: its file.
    line: its first line.
    caller: the line that called it, as `file:line`, or "".
    causes: for each cache entry, newest first, the guard that failed.
    seconds: the duration of the compile; 0.0 for LIMIT.
    error: the error that ended the compile, or "".
    is_alarm: whether it happened after the warm-up.
    """

    kind: Kind
    compile: str
    function: str
    file: str
    line: int
    caller: str = ""
    causes: tuple[str, ...] = ()
    seconds: float = 0.0
    error: str = ""
    is_alarm: bool = False

    @property
    def place(self) -> str:
        """Return the first line of the function as `file:line`."""
        return f"{os.path.basename(self.file)}:{self.line}"

    def __str__(self) -> str:
        name = f"{self.kind.value} {self.compile} of" if self.compile else f"{self.kind.value} reached by"
        caller = f", called at {self.caller}" if self.caller else ""
        spent = f", {self.seconds:.2f} s" if self.seconds else ""
        causes = "; ".join(dict.fromkeys(self.causes[:MOST_CAUSES]))
        resumed = resumed_function(self.function)
        function = self.function if resumed is None else f"the rest of {resumed[0]} after line {resumed[1]}"
        words = f"{name} {function} ({self.place}){caller}{spent}"
        return words + (f": {causes}" if causes else "") + (f"; it failed: {self.error}" if self.error else "")


@dataclass(frozen=True, slots=True)
class Counts:
    """The totals of a watch.

    compiles: first compiles and recompiles together.
    seconds: the duration of all compiles, with compiles of backwards.
    """

    compiles: int = 0
    recompiles: int = 0
    limits: int = 0
    alarms: int = 0
    seconds: float = 0.0

    def plus(self, event: CompileEvent) -> Counts:
        """Return the totals with another event."""
        return Counts(
            self.compiles + (event.kind is not Kind.LIMIT),
            self.recompiles + (event.kind is Kind.RECOMPILE),
            self.limits + (event.kind is Kind.LIMIT),
            self.alarms + event.is_alarm,
            self.seconds + event.seconds,
        )

    def plus_seconds(self, seconds: float) -> Counts:
        """Return the totals with the duration of a backward's compile."""
        return Counts(self.compiles, self.recompiles, self.limits, self.alarms, self.seconds + seconds)
