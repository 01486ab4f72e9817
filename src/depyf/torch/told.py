"""What the contexts of this process have told in each directory, for what comes after them."""

from __future__ import annotations

import types
import weakref
from dataclasses import dataclass, field
from pathlib import Path

from depyf.report.model import Compile, Session
from depyf.torch.dump import Numbers


@dataclass(frozen=True, slots=True)
class LiveCompile:
    """A compile and the user's code it is of, for as long as the user keeps that."""

    compile: Compile
    code: weakref.ref[types.CodeType]


@dataclass(slots=True)
class Told:
    """What a directory tells of, and the code that it is about."""

    session: Session
    numbers: Numbers = field(default_factory=Numbers)
    live: list[LiveCompile] = field(default_factory=list)


TOLD: dict[Path, Told] = {}
"""By directory, in the order in which contexts first wrote there."""
