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
        transformed = self.transformed() if self.transformed is not None else None
        return (
            code is not None
            and transformed is not None
            and any(cache_entry.code is transformed for cache_entry in cache_entries(code))
        )


@dataclass(slots=True)
class Told:
    """The content of a directory, and the code objects that it is about."""

    session: Session
    numbers: Numbers = field(default_factory=Numbers)
    live: list[LiveCompile] = field(default_factory=list)
    _functions: WeakCodes[Function] = field(default_factory=WeakCodes)

    def add(self, compiles: Iterable[tuple[Function, LiveCompile]]) -> None:
        """Record the compiles of a context."""
        for function, live_compile in compiles:
            self.live.append(live_compile)
            if (code := live_compile.code()) is not None:
                self._functions[code] = function

    def function_of(self, code: types.CodeType) -> Function | None:
        """Return the function that earlier contexts captured, while torch still has one of its captured entries."""
        function = self._functions.get(code)
        return (
            function
            if function is not None
            and any(live_compile.code() is code and live_compile.runs() for live_compile in self.live)
            else None
        )

    def running(self) -> list[LiveCompile]:
        """Return the compiles whose entries torch still has. Each function is checked once."""
        entries: WeakCodes[set[int]] = WeakCodes()
        running = []
        for live_compile in self.live:
            code, transformed = (
                live_compile.code(),
                live_compile.transformed() if live_compile.transformed is not None else None,
            )
            if code is None or transformed is None:
                continue
            of_code = entries.get(code)
            if of_code is None:
                of_code = entries[code] = {id(entry.code) for entry in cache_entries(code)}
            if id(transformed) in of_code:
                running.append(live_compile)
        return running

    def note_dropped(self, words: str) -> None:
        """Mark those compiles of earlier contexts whose entries no longer exist."""
        running = {id(live_compile) for live_compile in self.running()}
        for live_compile in self.live:
            if not live_compile.compile.gone and id(live_compile) not in running:
                live_compile.compile.gone = words


def function_told(code: types.CodeType, entries: Iterable[types.CodeType]) -> tuple[Path, int] | None:
    """Return the directory with every entry of a function, and the function's index among its roots.

    Return None if no context of this process captured an entry, or if a context is still open.

    Args:
        code: the user's code.
        entries: the code that torch runs for each entry; compile ids repeat after a reset of Dynamo.
    """
    for directory, captured in reversed(TOLD.items()):
        if not captured.session.ended:
            continue
        heard = {
            id(live_compile.compile): live_compile.transformed
            for live_compile in captured.live
            if live_compile.code() is code
        }
        for place, root in enumerate(captured.session.roots()):
            refs = [heard[id(compiled)] for compiled in root.compiles if id(compiled) in heard]
            codes = [ref() for ref in refs if ref is not None]
            if codes and all(any(transformed_code is entry for transformed_code in codes) for entry in entries):
                return directory, place
    return None


TOLD: dict[Path, Told] = {}
"""By directory, in the order of the first writes."""


def told_so_far(directory: Path) -> Told:
    """Return the runs in a directory so far; nothing unless a context of this process has written there."""
    if directory not in TOLD or not (directory / INDEX).exists():
        TOLD[directory] = Told(Session(torch_version(), python_version(), view=CaptureView()))
    return TOLD[directory]
