"""Whether Inductor says which nodes each kernel computes: for links between the user's lines and kernels."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

NAMES_OF_NODES = 2
"""Inductor's level for the names alone, which costs less than whole histories of nodes."""


@contextlib.contextmanager
def kernels_tell() -> Iterator[None]:
    """Ask Inductor inside of the context, where this torch can be asked and the user has not."""
    import torch._inductor.config as config

    if getattr(config.trace, "provenance_tracking_level", None) != 0:
        yield
        return
    with config.patch({"trace.provenance_tracking_level": NAMES_OF_NODES}):
        yield


@contextlib.contextmanager
def kernels_are_named() -> Iterator[None]:
    """Have Inductor's C++ kernels tell the profiler their names inside of the context, where this torch can."""
    import torch._inductor.config as config

    if getattr(config.cpp, "enable_kernel_profile", None) is not False:
        yield
        return
    with config.patch({"cpp.enable_kernel_profile": True}):
        yield
