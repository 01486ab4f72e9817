"""What the contexts of this process have told in each directory, for what comes after them."""

from __future__ import annotations

import types
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from depyf.report.model import Compile, Function, Session
from depyf.report.summary import CaptureView
from depyf.report.writer import INDEX
from depyf.torch.adapters.seams import cache_entries
from depyf.torch.adapters.versions import python_version, torch_version
from depyf.torch.capture.weak_codes import WeakCodes
from depyf.trace.directory import Numbers


@dataclass(frozen=True, slots=True)
class LiveCompile:
    """A compile, the user's code it is of, for as long as the user keeps that, and the code that torch runs for it."""

    compile: Compile
    code: weakref.ref[types.CodeType]
    transformed: weakref.ref[types.CodeType] | None = None

    def runs(self) -> bool:
        """Return whether torch still has the entry; it drops them when Dynamo is reset, or what guards need is gone."""
        code = self.code()
        made = self.transformed() if self.transformed is not None else None
        return code is not None and made is not None and any(each.code is made for each in cache_entries(code))


@dataclass(slots=True)
class Told:
    """What a directory tells of, and the code that it is about."""

    session: Session
    numbers: Numbers = field(default_factory=Numbers)
    live: list[LiveCompile] = field(default_factory=list)
    _functions: WeakCodes[Function] = field(default_factory=WeakCodes)

    def add(self, compiles: Iterable[tuple[Function, LiveCompile]]) -> None:
        """Note what a context has told."""
        for function, each in compiles:
            self.live.append(each)
            if (code := each.code()) is not None:
                self._functions[code] = function

    def function_of(self, code: types.CodeType) -> Function | None:
        """Return the function that earlier contexts have told of, while torch has an entry that they told of."""
        found = self._functions.get(code)
        return found if found is not None and any(each.code() is code and each.runs() for each in self.live) else None

    def running(self) -> list[LiveCompile]:
        """Return the compiles whose entries torch still has; it is asked once for each function."""
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
        """Say of the compiles that earlier contexts have told of which of them serve no more calls."""
        running = {id(each) for each in self.running()}
        for each in self.live:
            if not each.compile.gone and id(each) not in running:
                each.compile.gone = words


def function_told(code: types.CodeType, entries: Iterable[types.CodeType]) -> tuple[Path, int] | None:
    """Return the directory that tells of every entry of a function, and the place of the function among its roots.

    None where entries were made that no context of this process heard of, or one is still open.

    Args:
        code: the user's code.
        entries: the code that torch runs for each of its entries; compile ids begin anew when Dynamo is reset.
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
"""By directory, in the order in which contexts first wrote there."""


def told_so_far(directory: Path) -> Told:
    """Return what a directory tells of, nothing unless a context of this process has written there."""
    if directory not in TOLD or not (directory / INDEX).exists():
        TOLD[directory] = Told(Session(torch_version(), python_version(), view=CaptureView()))
    return TOLD[directory]
