"""The table of passes: those that are registered, in the order that their reasons give.

The passes that only control flow needs are registered when the first code needs them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from depyf.decompiler.passes.groups import NOTHING as NOTHING
from depyf.decompiler.passes.registry import WRITTEN as WRITTEN
from depyf.decompiler.passes.registry import Pass, Stage, load, reasons
from depyf.decompiler.pipeline.work import BUILD as BUILD
from depyf.decompiler.pipeline.work import SCOPES as SCOPES
from depyf.decompiler.pipeline.work import Passes

if TYPE_CHECKING:
    PASSES: tuple[Pass, ...]
    OPTIONAL: frozenset[str]
    ORDER: list[tuple[str, str, str]]

load("depyf.decompiler.passes")
import_module("depyf.decompiler.pipeline.lifting")

ALONE = Passes(lambda entry: entry.stage not in (Stage.BODY, Stage.WHOLE))
TOGETHER = Passes(lambda entry: entry.stage is Stage.BODY)
LAST = Passes(lambda entry: entry.stage is Stage.WHOLE)
ALL = Passes(lambda entry: True)
"""The passes by their scope: a code object, a body with its nested ones, the outermost body; and all."""


def __getattr__(name: str) -> object:
    """Return PASSES (all, in their order), OPTIONAL (those that can be left out) or ORDER (its reasons)."""
    if name == "PASSES":
        return ALL.passes
    if name == "OPTIONAL":
        return frozenset(entry.name for entry in ALL.passes if entry.optional)
    if name == "ORDER":
        return reasons(ALL.passes)
    raise AttributeError(name)
