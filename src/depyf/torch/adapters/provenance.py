"""Whether Inductor records which nodes each kernel computes, for links between the user's lines and kernels."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

NAMES_OF_NODES = 2
"""Inductor's level for names only, which costs less than the full histories of nodes."""


@contextlib.contextmanager
def kernels_tell() -> Iterator[None]:
    """Make Inductor record the nodes inside the context, if this torch can and the user has not set it."""
    import torch._inductor.config as config

    if getattr(config.trace, "provenance_tracking_level", None) != 0:
        yield
        return
    with config.patch({"trace.provenance_tracking_level": NAMES_OF_NODES}):
        yield


@contextlib.contextmanager
def kernels_are_named() -> Iterator[None]:
    """Make Inductor's C++ kernels report their names to the profiler inside the context, if this torch can."""
    import torch._inductor.config as config

    if getattr(config.cpp, "enable_kernel_profile", None) is not False:
        yield
        return
    with config.patch({"cpp.enable_kernel_profile": True}):
        yield
