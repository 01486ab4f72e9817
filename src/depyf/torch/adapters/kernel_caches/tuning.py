"""Inductor's cache of the fastest configurations of Triton kernels."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from depyf.model.run import Unavailable
from depyf.torch.adapters.kernel_caches.look import TUNING, KernelLook, Listener
from depyf.torch.adapters.unseen import left_alone


def watch_tuning(autotune: ModuleType, listener: Listener) -> Callable[[], None] | Unavailable:
    """Report each kernel whose best configuration is looked up to `listener`; return a function that ends this.

    `autotune` is Inductor's module for that cache.
    """
    cache: Any = getattr(autotune, "AutotuneCache", None)
    create, read_best = (vars(cache).get(name) if cache else None for name in ("create", "read_best"))
    if not isinstance(create, staticmethod) or read_best is None:
        return Unavailable("this torch does not report its tuned configurations in a form that depyf knows")
    last = threading.local()

    @left_alone
    def made(inductor_meta: Any, filename: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as torch's own
        cache = create.__func__(inductor_meta, filename, *args, **kwargs)
        last.made = cache, filename
        return cache

    @left_alone
    def read(self: Any, inductor_meta: Any, configs: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        best = read_best(self, inductor_meta, configs, *args, **kwargs)
        mine, filename = getattr(last, "made", (None, ""))
        last.made = None, ""
        listener(lambda: _look(self, filename if mine is self else "", configs, is_hit=best is not None))
        return best

    cache.create, cache.read_best = staticmethod(made), read

    def end() -> None:
        if vars(cache).get("read_best") is read:
            cache.create, cache.read_best = create, read_best

    return end


def _look(cache: Any, filename: str, configs: Sequence[object], *, is_hit: bool) -> KernelLook:  # noqa: ANN401
    entry = Path(cache.local_cache[1]) if getattr(cache, "local_cache", None) else None
    parts = {
        "tuned kernel": Path(filename).read_text() if filename else "",
        "configurations": "\n".join(map(str, configs)),
        # Older torches, such as 2.4, have no such module.
        "cache key tag": str(getattr(sys.modules.get("torch.compiler.config"), "cache_key_tag", "")),
    }
    seconds = _tuned_for(entry) if is_hit and entry is not None else 0.0
    return KernelLook(TUNING, is_hit, f"{entry.stem if entry else ''}-{cache.configs_hash}", parts, seconds)


def _tuned_for(entry: Path) -> float:
    """Return the seconds that tuning took, from the entry; 0 if it has no time, or is on another machine."""
    try:
        content = json.loads(entry.read_text())
    except (OSError, ValueError):
        return 0.0
    taken = content.get("time_taken_ms") if isinstance(content, dict) else None
    return taken / 1000 if isinstance(taken, int | float) else 0.0
