"""The call of a function in which a compile began, so that findings know which recompiles occurred in one call.

A resume function is called by the compiled code of the function that it resumes. The runs of that code are counted, so
the number of runs so far is the number of the call.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable

from depyf.model.run import Function, Transformed
from depyf.torch.adapters.seams import RESUME_PREFIX


def call_in_progress(function: Function, function_of: Callable[[types.CodeType], Function | None]) -> int | None:
    """Return the number of the call in which the newest compile of a function begins in this thread.

    Args:
        function: the function, with the compile that begins.
        function_of: returns the function of which a compile made a code object, or None.

    Returns:
        The number among the calls of the function, or of the function that it resumes, that compiled code serves, from
        1; None if these calls are not counted.
    """
    if not function.name.startswith(RESUME_PREFIX):
        before = _runs(function)
        return before + 1 if before is not None else None
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        caller = function_of(frame.f_code)
        if caller is not None and not caller.name.startswith(RESUME_PREFIX):
            return _runs(caller)
        frame = frame.f_back
    return None


def _runs(function: Function) -> int | None:
    """Return how often compiled code of a function ran so far, or None if it is not counted."""
    counted = [compiled.hits for compiled in function.compiles if isinstance(compiled.transformed, Transformed)]
    known = [hits for hits in counted if hits is not None]
    return sum(known) if len(known) == len(counted) else None
