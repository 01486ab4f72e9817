"""One backend for everything that a program compiles, whatever it asks for."""

from __future__ import annotations

import functools
from typing import Any

import torch._dynamo


def force_backend(name: str) -> None:
    """Let every `torch.compile` of this process use the backend of that name, from now on and for good."""
    optimize = torch._dynamo.optimize

    @functools.wraps(optimize)
    def with_backend(*args: Any, **kwargs: Any) -> Any:
        kwargs["backend"] = name
        return optimize(*args[1:], **kwargs)

    torch._dynamo.optimize = with_backend
