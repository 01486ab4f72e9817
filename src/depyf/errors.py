"""The one exception that a user of the decompiler has to know."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


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


@contextlib.contextmanager
def faults_named(doing: str, code: object) -> Iterator[None]:
    """Turn an exception that depyf should not have raised into a DecompilationError that says so.

    doing: what was being done.
    code: the code object that it was done to.
    """
    try:
        yield
    except DecompilationError:
        raise
    except Exception as error:  # noqa: BLE001  whoever asks is promised one kind of exception; the cause stays in it
        reason = f"a fault of depyf's own while {doing}: {type(error).__name__}: {error}"
        raise DecompilationError(reason, code=str(code)) from error
