"""Torch's settings that depyf changes, each for no longer than the compile that they are for."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from depyf.report.model import CompileId
from depyf.torch.adapters import seams


class CompileSettings:
    """Has Dynamo write no profiler marks in the compiles of one context; between them a program reads its own setting.

    May be used from any thread: a compile begins and ends in the same one.
    """

    def __init__(self) -> None:
        self._threads = threading.local()

    def begin(self, compile_id: CompileId) -> None:
        """Set them for a compile that begins in this thread; a compile may begin inside of another one."""
        opened = self._opened()
        if compile_id not in opened:
            settings = seams.without_profiler_marks()
            settings.__enter__()
            opened[compile_id] = settings

    def end(self, compile_id: CompileId | None = None) -> None:
        """Put them back for a compile that ends in this thread, and for those begun inside of it; else for all."""
        opened = self._opened()
        if compile_id is not None and compile_id not in opened:
            return
        while opened:
            last, settings = opened.popitem()
            settings.__exit__(None, None, None)
            if last == compile_id:
                return

    def _opened(self) -> dict[CompileId, contextlib.AbstractContextManager[Any]]:
        opened: dict[CompileId, contextlib.AbstractContextManager[Any]] = vars(self._threads).setdefault("opened", {})
        return opened
