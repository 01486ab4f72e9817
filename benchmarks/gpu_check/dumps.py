"""What every dump of the check is held to, and a context that compiles for the device or for Triton's interpreter."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import torch
import torch._inductor.config

from benchmarks.dump import PROVEN, Dump
from benchmarks.gpu_check.checks import Setting, Told

NO_CODE = "Dynamo made no code"
"""The index's reason for a frame that Dynamo looked at and left as it is."""


def judge(results: Told, name: str, directory: Path) -> None:
    """Check that a dump has no problems, that its files parse, and that all its code is proven."""
    dump = Dump(directory)
    compiles = dump.compiles()
    # A frame without a graph is in the index, too.
    compiles = [compiled for compiled in compiles if compiled.reason != NO_CODE]
    unproven = [compiled for compiled in compiles if compiled.level not in PROVEN]
    results.none_of(f"{name}: compiles without a proven source", unproven, len(compiles))
    results.none_of(f"{name}: files that do not parse", dump.unreadable(), len(dump.python_files()))
    results.none_of(f"{name}: problems in the index", dump.index["problems"], len(compiles))


def wait(setting: Setting) -> None:
    """Wait until the device has done its work."""
    if setting.device == "cuda":
        torch.cuda.synchronize()


def has_kernels(setting: Setting) -> bool:
    """Return whether Triton's kernels can run: on the device, or interpreted."""
    return not setting.is_small or importlib.util.find_spec("triton") is not None


@contextmanager
def triton_kernels(setting: Setting) -> Iterator[None]:
    """Make Inductor write Triton's kernels, and new tensors be on the device; without one, kernels are interpreted."""
    with ExitStack() as stack:
        stack.enter_context(torch._inductor.config.patch(force_disable_caches=True))
        if setting.is_small:
            from depyf.torch.kernels.interpreter import interpreting

            stack.enter_context(torch._inductor.config.patch(cpu_backend="triton"))
            stack.enter_context(interpreting())
        else:
            stack.enter_context(torch.device(setting.device))
        yield
