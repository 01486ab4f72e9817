"""Functions that are compiled before they are called: their records get the compile id that Dynamo gave the capture."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from depyf.report.model import CompileId
from depyf.torch.adapters import ahead, caller
from depyf.torch.capture.recorder import Recorder


class AheadOfTime:
    """The compiles of one context that are ahead of a call. May be used from any thread."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._ids: dict[int, CompileId] = {}

    def begin(self, compile_id: CompileId) -> None:
        """Begin a compile of which torch has not told that it starts; do nothing for any other."""
        code = caller.code_in_progress()
        found = ahead.in_progress()
        if code is not None and found is not None:
            running = self._recorder.begun(compile_id, found.shown or code)
            running.is_ahead = True
            self._ids[found.key] = compile_id

    def with_id(self, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a record that has no compile id with the one of the compile that it is about, if there is one."""
        found = ahead.in_progress() if self._ids else None
        compile_id = self._ids.get(found.key) if found is not None else None
        if compile_id is None:
            return metadata
        return {**metadata, "frame_id": compile_id.frame, "frame_compile_id": compile_id.compile}

    def codes(self) -> tuple[types.CodeType, types.CodeType] | None:
        """Return the code of the function that is compiled in this thread, and Dynamo's for it."""
        found = ahead.in_progress() if self._ids else None
        if found is None or found.function is None or found.new_code is None:
            return None
        return found.function.__code__, found.new_code
