"""The exception that the decompiler raises."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class DecompilationError(Exception):
    """Code that cannot be decompiled.

    reason: what is wrong, in one line and in terms of the bytecode.
    code: the code object (qualified name, file and line) or the file that it came from.
    offset: the byte offset of the faulty instruction, or None if there is no single one.
    """

    def __init__(self, reason: str, *, code: str, offset: int | None = None) -> None:
        self.reason = reason
        self.code = code
        self.offset = offset
        place = code if offset is None else f"{code}, offset {offset}"
        super().__init__(f"{place}: {reason}")


@contextlib.contextmanager
def faults_named(doing: str, code: object) -> Iterator[None]:
    """Turn an unexpected exception inside depyf into a DecompilationError.

    doing: the task during which it was raised.
    code: the code object that was processed.
    """
    try:
        yield
    except DecompilationError:
        raise
    except Exception as error:  # noqa: BLE001  whoever asks is promised one kind of exception; the cause stays in it
        reason = f"an error inside depyf while {doing}: {type(error).__name__}: {error}"
        raise DecompilationError(reason, code=str(code)) from error
