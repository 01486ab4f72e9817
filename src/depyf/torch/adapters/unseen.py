"""depyf's own functions that torch calls where Dynamo inspects every frame. Dynamo must not compile them.

Compiled autograd runs the backward, and so the rest of the compiler, inside a compiled function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import torch
from torch._dynamo.eval_frame import skip_code

P = ParamSpec("P")
R = TypeVar("R")


def unseen(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that Dynamo does not inspect, nor its callees."""
    skipped: Callable[P, R] = torch._dynamo.disable(function)
    return skipped


def left_alone(function: Callable[P, R]) -> Callable[P, R]:
    """Make Dynamo skip the frames of a function itself. The function object stays the same."""
    skip_code(function.__code__)
    return function


def left_alone_with_calls(function: Callable[P, R]) -> Callable[P, R]:
    """Make Dynamo skip the frames of a function and of its callees. The function object stays the same."""
    try:
        from torch._C._dynamo.eval_frame import set_code_exec_strategy
        from torch._dynamo.types import FrameAction, FrameExecStrategy
    except ImportError:
        return left_alone(function)
    set_code_exec_strategy(function.__code__, FrameExecStrategy(FrameAction.SKIP, FrameAction.SKIP))
    return function
