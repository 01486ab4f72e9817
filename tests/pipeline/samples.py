"""Code to run the pipeline over: functions of the standard library, and the programs that show every opcode."""

from __future__ import annotations

import functools
import importlib
import types
from pathlib import Path

from depyf.bytecode.code import CO_OPTIMIZED

MODULES = (
    *("argparse", "ast", "bisect", "calendar", "contextlib", "copy"),
    *("enum", "heapq", "shlex", "textwrap", "typing"),
)


@functools.cache
def functions(every: int) -> list[types.CodeType]:
    """Return one function of `every` in some modules of the running Python's library, nested ones included."""
    codes: list[types.CodeType] = []
    for name in MODULES:
        path = importlib.import_module(name).__file__
        assert path is not None
        work = [compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)]
        while work:
            code = work.pop()
            work.extend(const for const in code.co_consts if isinstance(const, types.CodeType))
            if code.co_flags & CO_OPTIMIZED and not code.co_name.startswith("<"):
                codes.append(code)
    return codes[::every]
