"""A fresh torch for a test: no earlier compiles, and caches in its own folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch

VARIABLES = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton"}
"""The variables for torch's and Triton's caches, and the folder that replaces each."""


@contextmanager
def fresh_caches(folder: Path) -> Iterator[None]:
    """Discard compiles before and after the block, and keep torch's caches in `folder` meanwhile.

    Dynamo is reset, and Inductor's modules are dropped if Inductor was imported. Existing files in the folder serve as
    a warm cache.
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
    """Drop torch's compiles from memory. Files of its caches stay."""
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
