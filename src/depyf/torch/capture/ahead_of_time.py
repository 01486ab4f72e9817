"""Compiles without a call, before a function's first call or of a graph without a frame. Their records get an id.

A function that is compiled ahead of its calls has the id of Dynamo's capture. If there is none, depyf assigns one:
`g0/0` is the first graph that was compiled without a frame.
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.model.run import CompileId, NoCall, Unavailable
from depyf.torch.adapters import ahead, alone, caller
from depyf.torch.capture.active import HITS
from depyf.torch.capture.recorder import Recorder, Running
from depyf.trace.records import record_kind
from depyf.trace.stages import OF_KERNELS, TIMELINE

NO_GUARDS = "it has no guards: no call is compiled, and the caller keeps the result"
NO_CODE = "there is no bytecode: a graph was compiled without a frame"
_COUNT = itertools.count()
AHEAD, LOADED = "compiled ahead of its calls", "loaded from a package"


@dataclass(slots=True)
class _Graph:
    """A graph without a frame: the object that it belongs to, while it lives, and its first data."""

    of: Callable[[], object]
    running: Running
    first: str = ""


class AheadOfTime:
    """The compiles of one context without a call. May be used from any thread."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._ids: dict[int, CompileId] = {}
        self._alone: dict[int, _Graph] = {}

    def begin(self, compile_id: CompileId) -> None:
        """Begin a compile whose start torch did not report; do nothing for other compiles."""
        code = caller.code_in_progress()
        frame = ahead.in_progress()
        if code is not None and frame is not None:
            running = self._recorder.begun(compile_id, frame.shown or code)
            running.is_ahead = True
            running.compile.trigger = NoCall(AHEAD)
            self._ids[frame.key] = compile_id
        elif frame is None and (graph := alone.in_progress()) is not None:
            self._begin_alone(graph, compile_id)

    def with_id(self, metadata: Mapping[str, Any], payload: str | None) -> Mapping[str, Any]:
        """Return a record without a compile id with the id of the compile that it is about, if there is one.

        An event of the timeline names its compile itself.
        """
        if TIMELINE in metadata:
            return metadata
        in_progress = ahead.in_progress() if self._ids else None
        compile_id = self._ids.get(in_progress.key) if in_progress is not None else None
        if compile_id is None and (graph := alone.in_progress()) is not None:
            # A record of a call of compiled code has no relevant content.
            kind = record_kind(metadata)[0] if payload is not None else ""
            compile_id = self._latest() if self._is_lookup_alone(graph, kind) else self._id_of(graph, kind)
        if compile_id is None:
            return metadata
        return {**metadata, "frame_id": compile_id.frame, "frame_compile_id": compile_id.compile}

    def exported(self, of_torch: CompileId | None) -> CompileId | None:
        """Return the id of the export in this thread that traces the user's module without Dynamo, or None.

        of_torch: the id that torch gives it, if it does.
        """
        graph = alone.in_progress()
        if graph is None or not graph.is_traced:
            return None
        return of_torch or self._id_of(graph, "")

    def codes(self) -> tuple[types.CodeType, types.CodeType] | None:
        """Return the code of the function that this thread compiles, and Dynamo's code for it."""
        in_progress = ahead.in_progress() if self._ids else None
        if in_progress is None or in_progress.function is None or in_progress.new_code is None:
            return None
        return in_progress.function.__code__, in_progress.new_code

    def loaded(self, compile_id: CompileId) -> tuple[CompileId, types.CodeType, types.CodeType] | None:
        """Return the compile that this thread loads from a package, the function's code, and Dynamo's code for it.

        torch gives all compiles of a function the same id.
        """
        loaded = ahead.loaded_in_progress()
        if loaded is None:
            return None
        entry_id = replace(compile_id, compile=loaded.number)
        running = self._recorder.begun(entry_id, loaded.code)
        running.is_ahead = running.finished = True
        running.compile.trigger = NoCall(LOADED)
        if running.compile.began is not None:
            running.compile.seconds["total"] = round(self._recorder.now() - running.compile.began, 6)
        if HITS not in self._recorder.session.unavailable:
            self._recorder.await_copies(running, loaded.new_code)
        return entry_id, loaded.code, loaded.new_code

    def _id_of(self, graph: alone.Alone, kind: str) -> CompileId | None:
        """Return the id of a graph without a frame, given the kind of a record with a payload; None before it begins.

        The end of such a compile is not reported, and frames of consecutive calls may have the same address.
        """
        known = self._alone.get(graph.key)
        if known is None or known.of() is not graph.of() or (kind and kind == known.first):
            if not kind and not graph.is_traced:
                return None
            known = self._begin_alone(graph, CompileId(-1 - next(_COUNT), 0))
        known.first = known.first or kind
        compiled = known.running.compile
        if compiled.began is not None:
            compiled.seconds["total"] = round(self._recorder.now() - compiled.began, 6)
        return compiled.id.of_torch

    def _is_lookup_alone(self, graph: alone.Alone, kind: str) -> bool:
        """Return whether a record is a lookup for a kernel outside of such a compile.

        Kernels are tuned in threads of their own, and at the first call of compiled code.
        """
        return kind in OF_KERNELS and graph.key not in self._alone

    def _latest(self) -> CompileId | None:
        last = self._recorder.last()
        return last.compile.id.of_torch if last is not None else None

    def _begin_alone(self, graph: alone.Alone, compile_id: CompileId) -> _Graph:
        running = self._recorder.begun_at(compile_id, graph.stack, graph.code)
        running.is_ahead = running.finished = True
        running.compile.trigger = NoCall(f"asked for by {graph.asked}")
        running.compile.guards = Unavailable(NO_GUARDS)
        running.compile.transformed = Unavailable(NO_CODE)
        self._alone[graph.key] = graph_of_key = _Graph(graph.of, running)
        return graph_of_key
