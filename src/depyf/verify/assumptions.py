"""Facts that a proof may assume because its caller guarantees them."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import field

from depyf.bytecode.records import dataclass


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Facts about the program around a code object.

    sequence_lengths: by global name, a length: calling the global returns an exact tuple or list with that many items,
        and nobody else changes it. Then `x, y = f()` is equivalent to two subscripts.
    in_place: the candidate will replace the original, so no value may live longer in it.
    unchanging: names of globals that are bound on entry, and that nobody rebinds or deletes while the code runs. Then
        neither the time nor the number of their loads matters.
    """

    sequence_lengths: Mapping[str, int] = field(default_factory=lambda: types.MappingProxyType({}))
    unchanging: frozenset[str] = frozenset()
    in_place: bool = False


NO_ASSUMPTIONS = Assumptions()
