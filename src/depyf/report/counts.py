"""Numbers that every view of a run has to tell alike."""

from __future__ import annotations

from depyf.report.model import Compile, GuardSet


def guard_count(compiled: Compile) -> int | None:
    """Return how many guards are shown of a compile; torch's own number, in which some count twice, if none are."""
    return len(compiled.guards.guards) if isinstance(compiled.guards, GuardSet) else compiled.guard_count
