"""The seconds of compiles that torch keeps by name, which `torch._dynamo.utils.compile_times()` shows to a program."""

from __future__ import annotations

from torch._dynamo import utils

LOADING = "PyCodeCache.load_by_key_path"
"""torch's name for loading a module of Inductor's, which compiles its kernels or waits for them."""
_HOOKS = "bytecode_hooks_"
"""The beginning of torch's names for the times of bytecode hooks, of which depyf is one."""


def kernel_seconds() -> float:
    """Return the seconds that torch has spent in other compilers, the C++ compiler and Triton's, or waited for them."""
    metrics = getattr(utils, "compilation_time_metrics", {})
    return float(sum(metrics.get(LOADING, ())))


def running_hook() -> str:
    """Return torch's name for the time of the bytecode hook that runs, or "" if it has earlier times, too."""
    names: list[str] = [name for name, times in utils.compilation_time_metrics.items() if not times]
    return next((name for name in reversed(names) if name.startswith(_HOOKS)), "")


def forget(name: str) -> None:
    """Remove the times of this name, which depyf's own hook has after its run."""
    utils.compilation_time_metrics.pop(name, None)
