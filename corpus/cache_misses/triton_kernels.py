"""A Triton kernel and its changed forms, and Inductor's Triton kernels without a GPU: compiled, never run."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from torch._inductor import config as inductor

TEXT = """
import triton
import triton.language as tl

SCALE = tl.constexpr(2)


@triton.jit
def twice(value):
    return value + value


@triton.jit
def scaled(x, n, BLOCK: tl.constexpr, DOUBLE: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + places, mask=places < n) * SCALE
    if DOUBLE:
        value = value - 5
    tl.store(x + places, twice(value), mask=places < n)
"""
_FOLDER = tempfile.TemporaryDirectory()


def kernel(old: str = "", new: str = "") -> Any:
    """Return the kernel `scaled`, with one text in its file replaced."""
    path = Path(_FOLDER.name, f"kernels_{len(list(Path(_FOLDER.name).iterdir()))}.py")
    path.write_text(TEXT.replace(old, new) if old else TEXT)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.scaled


def tuned(body: Callable[[], Any]) -> Callable[[], Any]:
    """Return what compiles a program to Triton for a GPU that is not there, and saves a configuration as the best."""

    def compiled() -> Any:
        with _no_gpu():
            return body()

    return compiled


@contextmanager
def _no_gpu() -> Iterator[None]:
    import triton
    from torch._inductor.runtime import triton_helpers
    from torch._inductor.runtime.hints import DeviceProperties
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    from depyf.torch.kernels.interpreter import no_device

    properties = DeviceProperties("cuda", 0, 108, 80, 8, 65536, 2048, 1024, 32)
    with ExitStack() as undo:
        driver = triton.runtime.driver
        undo.callback(setattr, driver, "_active", getattr(driver, "_active", None))
        driver.set_active(no_device())
        for name in ("set_driver_to_cpu", "set_driver_to_gpu"):
            undo.enter_context(mock.patch.object(triton_helpers, name, lambda: None))
        undo.enter_context(mock.patch.object(DeviceProperties, "create", lambda device: properties))
        undo.enter_context(mock.patch.object(CachingAutotuner, "_make_launchers", lambda self: None))
        undo.enter_context(mock.patch.object(CachingAutotuner, "run", _saved))
        undo.enter_context(inductor.patch(cpu_backend="triton"))
        yield


def _saved(self: Any, *args: object, **kwargs: object) -> None:
    """Save the first configuration, as tuning does after it has measured all."""
    if self.save_cache_hook and self.compile_results:
        self.save_cache_hook(self.compile_results[0].config, 5_000_000)
