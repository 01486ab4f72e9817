"""Programs that torch guards in every way that it has."""

from __future__ import annotations

from corpus.guards.program import Program
from corpus.guards.programs import (
    ambience,
    constants,
    containers,
    functions,
    modules,
    objects,
    rare,
    shapes,
    tensors,
)

PROGRAMS: tuple[Program, ...] = (
    *tensors.PROGRAMS,
    *shapes.PROGRAMS,
    *constants.PROGRAMS,
    *containers.PROGRAMS,
    *objects.PROGRAMS,
    *functions.PROGRAMS,
    *modules.PROGRAMS,
    *ambience.PROGRAMS,
    *rare.PROGRAMS,
)

__all__ = ["PROGRAMS"]
