"""Put a recorder around the backend of everything that a program compiles."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch._dynamo
from torch._dynamo.backends.registry import lookup_backend


@contextlib.contextmanager
def recorded_backends(around: Callable[[Any], Any]) -> Iterator[None]:
    """Make every `torch.compile` in the context use `around(backend)` in place of its backend."""
    optimize = torch._dynamo.optimize

    @functools.wraps(optimize)
    def with_recorder(backend: Any = "inductor", *args: Any, **kwargs: Any) -> Any:
        chosen = kwargs.pop("backend", backend)
        return optimize(around(lookup_backend(chosen) if isinstance(chosen, str) else chosen), *args, **kwargs)

    torch._dynamo.optimize = with_recorder
    try:
        yield
    finally:
        torch._dynamo.optimize = optimize
