"""How well the equivalence of a candidate and its original is known."""

from __future__ import annotations

from enum import Enum


class Level(Enum):
    """The level of equivalence that was checked."""

    EXACT = "EXACT"
    EQUIVALENT = "EQUIVALENT"
    UNPROVEN = "UNPROVEN"
