"""The outcome of a compile or a function, in one word. Each view has a symbol and a colour for it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from depyf.model.run import Compile, Recompile, Transformed

UNTOLD = "a trace has no transformed code; only a capture of the running program has it"
"""Why there is no source for code that Dynamo did make."""


class Status(Enum):
    """The outcomes, worst last. The value is the word that is shown."""

    COMPILED = "compiled"
    RECOMPILED = "recompiled"
    BROKE = "broke"
    SKIPPED = "skipped"
    FAILED = "failed"


SIGNS = {
    Status.COMPILED: "✓",
    Status.RECOMPILED: "↻",
    Status.BROKE: "//",
    Status.SKIPPED: "–",
    Status.FAILED: "✕",
}


def status_of(compiled: Compile) -> Status:
    """Return the outcome of a compile."""
    if compiled.failure is not None or compiled.call_failures:
        return Status.FAILED
    if not isinstance(compiled.transformed, Transformed) and compiled.transformed.reason != UNTOLD:
        return Status.SKIPPED
    if compiled.breaks:
        return Status.BROKE
    return Status.RECOMPILED if isinstance(compiled.trigger, Recompile) else Status.COMPILED


def worst(outcomes: Iterable[Status]) -> Status:
    """Return the worst of several outcomes; `COMPILED` if there are none."""
    order = list(Status)
    return max(outcomes, key=order.index, default=Status.COMPILED)
