"""The seconds that torch has spent in other compilers, including waits for the C++ compiler and for Triton's."""

from __future__ import annotations

from torch._dynamo import utils

LOADING = "PyCodeCache.load_by_key_path"
"""torch's name for loading a module of Inductor's, which compiles its kernels or waits for them."""


def kernel_seconds() -> float:
    """Return the seconds that compiling and loading kernels has taken in this process."""
    metrics = getattr(utils, "compilation_time_metrics", {})
    return float(sum(metrics.get(LOADING, ())))
