"""Facts about the globals in program-written code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from depyf.bytecode.records import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """Facts that allow shorter code.

    results: by global whose call returns a sequence, names for its items.
    unchanging: globals that are bound on entry and keep their value while the code runs.
    """

    results: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unchanging: frozenset[str] = frozenset()
