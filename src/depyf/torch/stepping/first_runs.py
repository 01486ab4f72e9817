"""Before compiled code first runs: map its callees to the lines of their files, and report where to break.

torch may compile a backward when it is first called, after the code that calls it has run. So depyf examines a compile
again before its next call if torch has reported more about it.
"""

from __future__ import annotations

import threading
import types
from pathlib import Path

from depyf.model.run import CompileId
from depyf.torch.capture.recorder import Running
from depyf.torch.dump.told import LiveCompile
from depyf.torch.stepping.places import lines_about
from depyf.torch.stepping.stepping import find_steps


class FirstRuns:
    """The compiles of one context that have run in the lines of their files. May be used from any thread."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._looked_at: set[CompileId] = set()
        self._told: set[tuple[CompileId, str]] = set()
        self._replaced: dict[int, tuple[types.FunctionType, types.CodeType]] = {}
        self._lock = threading.Lock()

    def is_new(self, running: Running) -> bool:
        """Return whether a compile must be examined."""
        return running.compile.id.of_torch not in self._looked_at

    def changed(self, compile_id: CompileId | None) -> None:
        """Record that torch has reported more about a compile."""
        with self._lock:
            if compile_id is not None:
                self._looked_at.discard(compile_id)

    def begin(self, running: Running) -> list[str]:
        """Run the callees of a compile in the lines of their files; return the places to break that are new."""
        with self._lock:
            self._looked_at.add(running.compile.id.of_torch)
            if running.live_code is None:
                return []
            steps = find_steps(LiveCompile(running.compile, running.live_code), self._directory)
            for function, code in steps.replacements():
                self._replaced.setdefault(id(function), (function, function.__code__))
                function.__code__ = code
            first, *others = [(running.compile.id, line) for line in lines_about(self._directory, steps)]
            new = [place for place in (first, *others) if place not in self._told]
            self._told.update(new)
            return [line for _, line in (first, *(place for place in new if place != first))] if new else []

    def end(self) -> None:
        """Restore the code of every function."""
        with self._lock:
            for function, code in self._replaced.values():
                function.__code__ = code
            self._replaced.clear()
