"""The seconds that torch has spent in other compilers: with it waits for the C++ compiler, and for Triton's."""

from __future__ import annotations

from torch._dynamo import utils

LOADING = "PyCodeCache.load_by_key_path"
"""Torch's name for loading one of Inductor's modules, which compiles the kernels in it or waits for that."""


def kernel_seconds() -> float:
    """Return the seconds that compiling and loading kernels took in this process until now."""
    metrics = getattr(utils, "compilation_time_metrics", {})
    return float(sum(metrics.get(LOADING, ())))
