"""Use one backend for everything that a program compiles."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch._dynamo
from torch._dynamo.backends.registry import list_backends, lookup_backend
from torch._dynamo.exc import InvalidBackend


def force_backend(name: str, refuse: Callable[[str], None] = lambda reason: None) -> Callable[[], None]:
    """Make every `torch.compile` of this process use the backend with that name; return a function that ends this.

    Earlier results of `torch.compile` keep their backend. The program may register the backend until the first compile.
    If it does not exist then, `refuse` receives a message; if `refuse` returns, torch raises its own error.
    """
    optimize = torch._dynamo.optimize

    @functools.wraps(optimize)
    def with_backend(*args: Any, **kwargs: Any) -> Any:
        if not _is_known(name):
            refuse(f"torch has no backend {name!r}; it has {', '.join(list_backends(()))}")
        kwargs["backend"] = name
        return optimize(*args[1:], **kwargs)

    def end() -> None:
        torch._dynamo.optimize = optimize

    torch._dynamo.optimize = with_backend
    return end


def _is_known(name: str) -> bool:
    try:
        lookup_backend(name)
    except InvalidBackend:
        return False
    return True


@contextlib.contextmanager
def forced_backend(name: str) -> Iterator[None]:
    """Force a backend inside the context; "" for none."""
    end = force_backend(name) if name else lambda: None
    try:
        yield
    finally:
        end()
