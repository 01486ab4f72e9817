"""Run interpreted Triton kernels from the dump: from their text in the file of Inductor's module.

before: the kernel runs in a file of Inductor's cache
after: the same code, in the lines of `__compiled_fn_1.kernel_0.py` between the quotes of its text
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from pathlib import Path

from depyf.links.inductor.module import Kernel, read_module
from depyf.torch.stepping.steppable import Steppable


def interpreted_kernels(call: types.FunctionType, path: Path) -> Iterator[Steppable]:
    """Yield the kernels that a module's function launches, in the lines of the module's file."""
    for kernel in read_module(path.read_text(encoding="utf-8")).kernels.values():
        interpreted = getattr(call.__globals__.get(kernel.name), "fn", None)
        rewrite = getattr(interpreted, "rewrite", None)
        function = rewrite() if rewrite is not None else None
        if isinstance(function, types.FunctionType) and _is_text_of(kernel, Path(function.__code__.co_filename)):
            code = function.__code__
            code = code.replace(co_filename=str(path), co_firstlineno=code.co_firstlineno + kernel.first - 1)
            lines = [line for _, _, line in code.co_lines() if line is not None]
            yield Steppable(function, code, path, min(line for line in lines if line > code.co_firstlineno))


def _is_text_of(kernel: Kernel, path: Path) -> bool:
    try:
        return path.read_text(encoding="utf-8").strip() == kernel.text.strip()
    except OSError:
        return False
