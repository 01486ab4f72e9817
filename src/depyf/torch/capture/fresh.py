"""A test's own torch: nothing that was compiled before it, and caches in a folder of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch

VARIABLES = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton"}
"""Where torch and Triton keep what they have compiled, and the folder that stands in for it."""


@contextmanager
def fresh_caches(folder: Path) -> Iterator[None]:
    """Forget what was compiled before the block and in it, and keep torch's caches in `folder` meanwhile.

    Dynamo is reset, and Inductor's modules are dropped where it was imported at all. Files that are in the folder
    serve as a warm cache.
    """
    before = {name: os.environ.get(name) for name in VARIABLES}
    forget()
    os.environ.update({name: str(folder / part) for name, part in VARIABLES.items()})
    try:
        yield
    finally:
        forget()
        _restore(before)


def forget() -> None:
    """Drop what torch has compiled from memory; files of its caches stay."""
    torch._dynamo.reset()
    inductor = sys.modules.get("torch._inductor.utils")
    clear = getattr(inductor, "clear_caches", None) or getattr(inductor, "clear_inductor_caches", None)
    if clear is not None:
        clear()


def _restore(before: Mapping[str, str | None]) -> None:
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
