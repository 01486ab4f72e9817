"""Notifications from torch that compiled code is about to run."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import cast

from depyf.model.run import Unavailable

Listener = Callable[[types.CodeType], None]


def watch_runs(listener: Listener) -> Callable[[], None] | Unavailable:
    """Call `listener` with every compiled code before it runs; return a function that ends this.

    torch has one place for a listener. An earlier listener is called as well, and restored. `listener` is a function or
    method written in Python, and must not raise.
    """
    try:
        from torch._C._dynamo.eval_frame import (
            get_bytecode_debugger_callback,
            set_bytecode_debugger_callback,
            set_code_exec_strategy,
        )
        from torch._dynamo.types import FrameAction, FrameExecStrategy
    except ImportError:
        return Unavailable("torch before 2.12 does not report which compiled code runs")
    before = get_bytecode_debugger_callback()

    def both(code: types.CodeType) -> None:
        listener(code)
        if before is not None:
            before(code)

    def end() -> None:
        if get_bytecode_debugger_callback() is callback:
            set_bytecode_debugger_callback(before)

    # This runs in every call of compiled code, so avoid an additional function call.
    callback = listener if before is None else both
    # It runs where Dynamo inspects every frame, which must compile neither it nor its callees.
    code = cast("types.MethodType", callback).__code__
    set_code_exec_strategy(code, FrameExecStrategy(FrameAction.SKIP, FrameAction.SKIP))
    set_bytecode_debugger_callback(callback)
    return end
