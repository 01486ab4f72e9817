"""The public functions of the decompiler and their result types. They are defined in `depyf.decompiler`."""

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
