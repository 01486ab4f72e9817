"""The lines that Dynamo reads in a compile, of the function itself and of inlined functions.

Only the method with which Dynamo's interpreter begins a line shows this.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable
from typing import Any

from depyf.model.run import Unavailable

_KEPT = "_depyf_lines_read"
"""The attribute that holds a reading on the output of its attempt, and an interpreter's progress on the interpreter.

A restart begins with new objects.
"""


class Reading:
    """The lines of each code object that one attempt of a compile has read, and the code that each line has called.

    Dynamo begins thousands of lines, and hashing a code object includes all its constants. So the objects are keyed by
    identity until the result is requested.
    """

    def __init__(self) -> None:
        self._lines: dict[int, tuple[types.CodeType, set[int]]] = {}
        self._calls: dict[tuple[int, int, int], tuple[types.CodeType, types.CodeType]] = {}

    def lines_of(self, code: types.CodeType) -> set[int]:
        """Return the set of lines of a code object that were read so far, to add to."""
        entry = self._lines.get(id(code))
        if entry is None:
            entry = self._lines[id(code)] = (code, set())
        return entry[1]

    def called(self, caller: types.CodeType, line: int, code: types.CodeType) -> None:
        """Record the code that a line has called.

        Args:
            caller: the code with the line.
            line: the number of the line.
            code: the code that was called.
        """
        self._calls[(id(caller), line, id(code))] = (caller, code)

    def lines(self) -> dict[types.CodeType, set[int]]:
        """Return the lines that were read, by code object."""
        by_code: dict[types.CodeType, set[int]] = {}
        for code, lines in self._lines.values():
            by_code.setdefault(code, set()).update(lines)
        return by_code

    def calls(self) -> dict[tuple[types.CodeType, int], set[types.CodeType]]:
        """Return the code that was called, by the code and line of the call."""
        by_call: dict[tuple[types.CodeType, int], set[types.CodeType]] = {}
        for (_, line, _), (caller, code) in self._calls.items():
            by_call.setdefault((caller, line), set()).add(code)
        return by_call


class _Progress:
    """The progress of one interpreter of a function: the set for its lines, and the line that called it last.

    A generator continues for several lines of its caller in turn.
    """

    __slots__ = ("caller", "code", "lines", "of_caller", "reading")

    def __init__(self, reading: Reading, translator: Any) -> None:  # noqa: ANN401 - Dynamo's interpreter
        self.reading = reading
        self.code: types.CodeType = translator.f_code
        self.lines = reading.lines_of(self.code)
        self.caller: Any = getattr(translator, "parent", None)
        self.of_caller: int | None = None

    def note_caller(self, line: int) -> None:
        self.of_caller = line
        self.reading.called(self.caller.f_code, line, self.code)


_LAST = threading.local()


def watch_lines() -> Callable[[], None] | Unavailable:
    """Record what Dynamo reads, in all threads; return a function that ends this."""
    from torch._dynamo import symbolic_convert

    interpreter: Any = getattr(symbolic_convert, "InstructionTranslatorBase", None)
    before = getattr(interpreter, "starts_line", None)
    if before is None:
        return Unavailable("this torch does not provide the lines that Dynamo reads")

    def starts_line(self: Any, line: int, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as torch's own
        progress = self.__dict__.get(_KEPT)
        if progress is None:
            progress = self.__dict__[_KEPT] = _begun(self)
        progress.lines.add(line)
        caller = progress.caller
        if caller is not None and progress.of_caller != caller.lineno:
            progress.note_caller(caller.lineno)
        return before(self, line, *args, **kwargs)

    interpreter.starts_line = starts_line

    def end() -> None:
        if interpreter.starts_line is starts_line:
            interpreter.starts_line = before
        vars(_LAST).clear()

    return end


def _begun(translator: Any) -> _Progress:  # noqa: ANN401 - Dynamo's interpreter of a function
    """Return the progress of an interpreter that begins its first line."""
    kept = translator.output.__dict__
    if _KEPT not in kept:
        kept[_KEPT] = Reading()
        vars(_LAST).setdefault("of_code", {})[translator.f_code] = kept[_KEPT]
    return _Progress(kept[_KEPT], translator)


def reading_of(code: types.CodeType) -> Reading | None:
    """Return what Dynamo has read in this thread's last attempt to compile `code`, once."""
    reading: Reading | None = vars(_LAST).get("of_code", {}).pop(code, None)
    return reading
