"""One backend for everything that a program compiles, whatever it asks for."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch._dynamo


def force_backend(name: str) -> Callable[[], None]:
    """Let every `torch.compile` of this process use the backend of that name; return what ends that.

    What was handed to `torch.compile` before keeps its own.
    """
    optimize = torch._dynamo.optimize

    @functools.wraps(optimize)
    def with_backend(*args: Any, **kwargs: Any) -> Any:
        kwargs["backend"] = name
        return optimize(*args[1:], **kwargs)

    def end() -> None:
        torch._dynamo.optimize = optimize

    torch._dynamo.optimize = with_backend
    return end


@contextlib.contextmanager
def forced_backend(name: str) -> Iterator[None]:
    """Force a backend inside of the context; none for an empty name."""
    end = force_backend(name) if name else lambda: None
    try:
        yield
    finally:
        end()
