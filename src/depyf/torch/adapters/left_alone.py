"""Functions of depyf's that run where Dynamo looks at every frame, and are not to be compiled."""

from __future__ import annotations

import types


def leave_alone(code: types.CodeType) -> None:
    """Have Dynamo compile neither a function nor what it calls, where this torch can be told so of its code."""
    try:
        from torch._C._dynamo.eval_frame import set_code_exec_strategy
        from torch._dynamo.types import FrameAction, FrameExecStrategy
    except ImportError:
        return
    set_code_exec_strategy(code, FrameExecStrategy(FrameAction.SKIP, FrameAction.SKIP))
