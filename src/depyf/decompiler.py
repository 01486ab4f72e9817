"""The names that programs written for depyf 0.x import; new programs use `depyf.decompile`."""

from __future__ import annotations

import types

from depyf.api import code_of, decompile
from depyf.errors import DecompilationError

__all__ = ["DecompilationError", "Decompiler", "decompile"]


class Decompiler:
    """Decompile one function.

    Args:
        code: a code object, or anything else that `depyf.decompile` takes.
    """

    def __init__(self, code: object) -> None:
        self.code: types.CodeType = code_of(code)

    def decompile(self, overwite_fn_name: str | None = None) -> str:
        """Return the source.

        Args:
            overwite_fn_name: the name to give the function; its own if there is none.

        Raises:
            DecompilationError: the code cannot be decompiled.
        """
        code = self.code if overwite_fn_name is None else self.code.replace(co_name=overwite_fn_name)
        return decompile(code)
