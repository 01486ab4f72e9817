"""The one exception that a user of the decompiler has to know."""

from __future__ import annotations


class DecompilationError(Exception):
    """Report code that cannot be decompiled, and where it goes wrong.

    reason: what is wrong, one line, in terms of the bytecode.
    code: the code object (qualified name, file and line) or the file it came from.
    offset: byte offset of the instruction at fault, or None where no one instruction is.
    """

    def __init__(self, reason: str, *, code: str, offset: int | None = None) -> None:
        self.reason = reason
        self.code = code
        self.offset = offset
        place = code if offset is None else f"{code}, offset {offset}"
        super().__init__(f"{place}: {reason}")
