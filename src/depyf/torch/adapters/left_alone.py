"""Functions of depyf that run where Dynamo inspects every frame, and that it must not compile."""

from __future__ import annotations

import types


def leave_alone(code: types.CodeType) -> None:
    """Make Dynamo compile neither a function nor its callees, if this torch can mark the code so."""
    try:
        from torch._C._dynamo.eval_frame import set_code_exec_strategy
        from torch._dynamo.types import FrameAction, FrameExecStrategy
    except ImportError:
        return
    set_code_exec_strategy(code, FrameExecStrategy(FrameAction.SKIP, FrameAction.SKIP))
