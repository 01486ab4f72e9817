"""Inductor's loader of the modules that it writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def module_loader() -> Callable[..., Any]:
    """Return Inductor's own function that loads a module by its path. depyf does not change it."""
    from torch._inductor.codecache import PyCodeCache

    loader: Callable[..., Any] = PyCodeCache.load_by_key_path
    return loader
