"""The public functions of the decompiler and the types of their results; `depyf.decompiler` is their home."""

from depyf.decompiler.api import (
    Decompiled,
    DecompiledModule,
    Decompiler,
    code_of,
    decompile,
    decompile_code,
    decompile_module,
    decompile_module_pyc,
    decompile_pyc,
    load_pyc,
    source_of,
)

__all__ = [
    "Decompiled",
    "DecompiledModule",
    "Decompiler",
    "code_of",
    "decompile",
    "decompile_code",
    "decompile_module",
    "decompile_module_pyc",
    "decompile_pyc",
    "load_pyc",
    "source_of",
]
