"""Make records of the trace from what older torch writes: before 2.4 it has no records, before 2.6 not all."""

from __future__ import annotations

from typing import Any

from depyf.model.run import CompileId
from depyf.torch.adapters import before_trace, caller, seams
from depyf.torch.capture.recorder import Recorder
from depyf.trace import stages

_KINDS = {
    "Joint graph": "aot_joint_graph",
    "Forward graph": "aot_forward_graph",
    "Backward graph": "aot_backward_graph",
    "AFTER POST GRAD": "after_post_grad_graph",
}
"""torch's names of the graphs that it formats, and of the records that later releases write for them."""


class UntoldBreaks:
    """Reports graph breaks to a recorder. torch traces them since 2.6."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._known = before_trace.graph_breaks()

    def before_code(self, current: tuple[CompileId, int]) -> None:
        """Report the breaks that a compile has met when its code is made."""
        breaks = before_trace.graph_breaks()
        known = {
            id(earlier) for earlier in self._known
        }  # By identity, because a reset of Dynamo forgets the breaks so far.
        for graph_break in breaks:
            if id(graph_break) not in known:
                text = before_trace.break_text(graph_break)
                _tell(self._recorder, current, stages.ARTEFACT, {"name": stages.BREAK_REASON}, text)
        self._known = breaks


class Untraced:
    """Reports to a recorder what the trace of later releases contains."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._kernels = set(before_trace.kernels())
        self._last: tuple[CompileId, int] | None = None

    def on_graph(self, current: tuple[CompileId, int], name: str, module: seams.GraphModule) -> None:
        """Report a graph that torch formats.

        Args:
            current: the compile and its attempt.
            name: torch's name for the graph.
            module: the graph.
        """
        code = caller.code_in_progress()
        if code is not None:
            self._recorder.begun(current[0], code)
        if name.startswith("__compiled_fn_"):
            self._recorder.name_graph(*current, name)
            _tell(self._recorder, current, "dynamo_output_graph", {}, seams.graph_text(module))
        elif name in _KINDS:
            _tell(self._recorder, current, _KINDS[name], {}, seams.graph_text(module))

    def before_code(self, current: tuple[CompileId, int]) -> None:
        """Report the data that a compile has left when its code is made."""
        self._last = current
        self._tell_kernels(current)

    def at_end(self) -> None:
        """Report the kernels of backward graphs that were compiled at their first use."""
        if self._last is not None:
            self._tell_kernels(self._last)

    def _tell_kernels(self, current: tuple[CompileId, int]) -> None:
        for path, text in before_trace.kernels().items():
            if path not in self._kernels:
                self._kernels.add(path)
                _tell(self._recorder, current, "inductor_output_code", {"filename": path}, text)

    def after_code(self, current: tuple[CompileId, int]) -> None:
        """Report that a compile has ended."""
        _tell(self._recorder, current, stages.FRAME_ENDS, {}, None)


def _tell(
    recorder: Recorder, current: tuple[CompileId, int], kind: str, details: dict[str, Any], payload: str | None
) -> None:
    compile_id, attempt = current
    ids = {"frame_id": compile_id.frame, "frame_compile_id": compile_id.compile, "attempt": attempt}
    recorder.record({kind: details, **ids}, payload)
