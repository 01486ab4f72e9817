"""The compiles that earlier contexts of this process wrote to each directory."""

from __future__ import annotations

import types
import weakref
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path

from depyf.bytecode.records import dataclass
from depyf.model.run import Compile, Function, Session
from depyf.model.writer import INDEX
from depyf.torch.adapters.seams import cache_entries
from depyf.torch.adapters.versions import python_version, torch_version
from depyf.torch.capture.weak_codes import WeakCodes
from depyf.trace.directory import Numbers
from depyf.views.summary import CaptureView


@dataclass(frozen=True, slots=True)
class LiveCompile:
    """A compile, its user code while the user keeps that, and the code that torch runs for it."""

    compile: Compile
    code: weakref.ref[types.CodeType]
    transformed: weakref.ref[types.CodeType] | None = None

    def runs(self) -> bool:
        """Return whether torch still has the entry.

        Torch drops entries when Dynamo is reset, or when a guarded object is deleted.
        """
        code = self.code()
        made = self.transformed() if self.transformed is not None else None
        return code is not None and made is not None and any(each.code is made for each in cache_entries(code))


@dataclass(slots=True)
class Told:
    """The content of a directory, and the code objects that it is about."""

    session: Session
    numbers: Numbers = field(default_factory=Numbers)
    live: list[LiveCompile] = field(default_factory=list)
    _functions: WeakCodes[Function] = field(default_factory=WeakCodes)

    def add(self, compiles: Iterable[tuple[Function, LiveCompile]]) -> None:
        """Record the compiles of a context."""
        for function, each in compiles:
            self.live.append(each)
            if (code := each.code()) is not None:
                self._functions[code] = function

    def function_of(self, code: types.CodeType) -> Function | None:
        """Return the function that earlier contexts captured, while torch still has one of its captured entries."""
        found = self._functions.get(code)
        return found if found is not None and any(each.code() is code and each.runs() for each in self.live) else None

    def running(self) -> list[LiveCompile]:
        """Return the compiles whose entries torch still has. Each function is checked once."""
        entries: WeakCodes[set[int]] = WeakCodes()
        found = []
        for each in self.live:
            code, made = each.code(), each.transformed() if each.transformed is not None else None
            if code is None or made is None:
                continue
            of_code = entries.get(code)
            if of_code is None:
                of_code = entries[code] = {id(entry.code) for entry in cache_entries(code)}
            if id(made) in of_code:
                found.append(each)
        return found

    def note_dropped(self, words: str) -> None:
        """Mark those compiles of earlier contexts whose entries no longer exist."""
        running = {id(each) for each in self.running()}
        for each in self.live:
            if not each.compile.gone and id(each) not in running:
                each.compile.gone = words


def function_told(code: types.CodeType, entries: Iterable[types.CodeType]) -> tuple[Path, int] | None:
    """Return the directory with every entry of a function, and the function's index among its roots.

    Return None if no context of this process captured an entry, or if a context is still open.

    Args:
        code: the user's code.
        entries: the code that torch runs for each entry; compile ids repeat after a reset of Dynamo.
    """
    for directory, told in reversed(TOLD.items()):
        if not told.session.ended:
            continue
        heard = {id(each.compile): each.transformed for each in told.live if each.code() is code}
        for place, root in enumerate(told.session.roots()):
            own = [heard[id(each)] for each in root.compiles if id(each) in heard]
            codes = [found() for found in own if found is not None]
            if codes and all(any(found is entry for found in codes) for entry in entries):
                return directory, place
    return None


TOLD: dict[Path, Told] = {}
"""By directory, in the order of the first writes."""


def told_so_far(directory: Path) -> Told:
    """Return the runs in a directory so far; nothing unless a context of this process has written there."""
    if directory not in TOLD or not (directory / INDEX).exists():
        TOLD[directory] = Told(Session(torch_version(), python_version(), view=CaptureView()))
    return TOLD[directory]
