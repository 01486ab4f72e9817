"""Decompile a `Code` to source, with its level of proof.

`Decompiler`, `decompile` and `DecompilationError` are imported on first use, so that a part of the decompiler can be
imported without the whole.
"""

from __future__ import annotations

import importlib

_HOMES = {
    "DecompilationError": "depyf.errors",
    "Decompiler": "depyf.decompiler.api",
    "decompile": "depyf.decompiler.api",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'depyf.decompiler' has no attribute {name!r}")
    attribute: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = attribute
    return attribute
