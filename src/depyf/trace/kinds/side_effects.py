"""The record of the objects that compiled code changes."""

from __future__ import annotations

from depyf.trace import records, stages
from depyf.trace.kinds import Taken, parses


@parses(stages.SIDE_EFFECTS)
def note_side_effects(taken: Taken) -> None:
    """Note the objects that a compile changes, each with the user's lines that ask for it."""
    compiled = taken.compile
    function = compiled.filename, compiled.name
    compiled.effects = records.side_effects(taken.payload or "", compiled.effects, function, taken.line_at)
