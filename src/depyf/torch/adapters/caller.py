"""The call that Dynamo compiles, as its frames show it to a bytecode hook."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from depyf.report.model import Unavailable

_DEEPEST = 30
"""Calls between Dynamo's compile and a hook; there are fewer than ten."""


def locals_in_progress() -> Mapping[str, object] | Unavailable:
    """Return the local variables of the call that is being compiled, while Dynamo calls a bytecode hook."""
    frame = sys._getframe(1).f_back
    for _ in range(_DEEPEST):
        if frame is None:
            break
        if {"locals", "compiler_fn"} <= set(frame.f_code.co_varnames):
            found = frame.f_locals.get("locals")
            if isinstance(found, Mapping):
                return found
        frame = frame.f_back
    return Unavailable("torch does not show a hook the variables of the call")
