"""Listen to the caches of kernels, each from the import of its module on: importing them takes seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import TypeAlias

from depyf.model.run import Unavailable
from depyf.torch.adapters.kernel_caches.cpp import watch_libraries
from depyf.torch.adapters.kernel_caches.look import Listener
from depyf.torch.adapters.kernel_caches.triton import watch_binaries
from depyf.torch.adapters.kernel_caches.tuning import watch_tuning

Watch: TypeAlias = Callable[[ModuleType, Listener], Callable[[], None] | Unavailable]

_WATCHES: dict[str, tuple[str, Watch]] = {
    "torch._inductor.codecache": ("looks into the cache of C++ libraries", watch_libraries),
    "torch._inductor.runtime.autotune_cache": ("looks into the cache of tuned configurations", watch_tuning),
    "triton": ("looks into Triton's cache", watch_binaries),
}


class KernelCaches:
    """The watched caches."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._awaited = dict(_WATCHES)
        self._ends: list[Callable[[], None]] = []
        self.unavailable: dict[str, str] = {}

    def look_for_modules(self) -> None:
        """Listen to the caches whose modules have been imported since."""
        for name in [name for name in self._awaited if name in sys.modules]:
            module = sys.modules[name]
            if getattr(module.__spec__, "_initializing", False):
                continue
            what, watch = self._awaited.pop(name)
            end = watch(module, self._listener)
            if isinstance(end, Unavailable):
                self.unavailable[what] = end.reason
            else:
                self._ends.append(end)

    def end(self) -> None:
        """Stop listening."""
        self._awaited.clear()
        while self._ends:
            self._ends.pop()()
