"""Which lines Dynamo reads in a compile, of the function itself and of those that it inlines.

Dynamo says so nowhere but in the method with which its interpreter begins a line.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from depyf.report.model import Unavailable

_KEPT = "_depyf_lines_read"
"""Under this name a reading is kept on the output of its attempt: a restart begins with another one."""


@dataclass(slots=True)
class Reading:
    """The lines of each code object that one attempt of a compile has read, and which code a line has called."""

    lines: dict[types.CodeType, set[int]] = field(default_factory=dict)
    calls: dict[tuple[types.CodeType, int], set[types.CodeType]] = field(default_factory=dict)

    def add(self, translator: Any, line: int) -> None:  # noqa: ANN401 - Dynamo's interpreter of a function
        """Note that an interpreter begins a line."""
        code = translator.f_code
        self.lines.setdefault(code, set()).add(line)
        caller = getattr(translator, "parent", None)
        if caller is not None:
            self.calls.setdefault((caller.f_code, caller.lineno), set()).add(code)


_LAST = threading.local()


def watch_lines() -> Callable[[], None] | Unavailable:
    """Note what Dynamo reads, in all threads; return what ends that."""
    from torch._dynamo import symbolic_convert

    interpreter: Any = getattr(symbolic_convert, "InstructionTranslatorBase", None)
    before = getattr(interpreter, "starts_line", None)
    if before is None:
        return Unavailable("this torch does not say which lines Dynamo reads")

    def starts_line(self: Any, line: int, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as torch's own
        kept = self.output.__dict__
        if _KEPT not in kept:
            kept[_KEPT] = Reading()
            vars(_LAST).setdefault("of_code", {})[self.f_code] = kept[_KEPT]
        kept[_KEPT].add(self, line)
        return before(self, line, *args, **kwargs)

    interpreter.starts_line = starts_line

    def end() -> None:
        if interpreter.starts_line is starts_line:
            interpreter.starts_line = before
        vars(_LAST).clear()

    return end


def reading_of(code: types.CodeType) -> Reading | None:
    """Return what Dynamo has read in this thread's last attempt to compile `code`, once."""
    found: Reading | None = vars(_LAST).get("of_code", {}).pop(code, None)
    return found
