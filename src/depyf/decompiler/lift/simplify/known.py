"""What is known of the globals that program-written code names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Known:
    """Facts that let code be written shorter.

    results: by global whose call returns a sequence, what the items of that would be called.
    unchanging: globals that are bound when the code is entered, and stay bound to the same while it runs.
    """

    results: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unchanging: frozenset[str] = frozenset()
