"""What a proof may take for granted because its caller knows it."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Facts about the program around a code object.

    sequence_lengths: by global name, that calling it returns an exact tuple or list of so many items, and that
        nobody else changes it. Then `x, y = f()` is the same as two subscripts.
    in_place: the candidate is to run in the place of the original, so that nothing may live longer in it.
    unchanging: names of globals that are bound when the code is entered, and that nobody binds anew or deletes while it
        runs. Then it does not matter when one is loaded, or how often.
    """

    sequence_lengths: Mapping[str, int] = field(default_factory=lambda: types.MappingProxyType({}))
    unchanging: frozenset[str] = frozenset()
    in_place: bool = False


NO_ASSUMPTIONS = Assumptions()
