"""Record the exceptions that compiled graphs raise in calls."""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Mapping

from depyf.bytecode.host import paused
from depyf.model.failure import MOST_CALL_FAILURES, CallFailure, Failure
from depyf.model.names import compiled_fn_number
from depyf.model.run import Compile
from depyf.torch.adapters import caller, seams
from depyf.torch.adapters.graph_calls import watch_graph
from depyf.torch.adapters.unseen import unseen
from depyf.torch.capture.recorder import Running
from depyf.torch.dump.problems import Problems


class GraphFailures:
    """The graphs of one context that are watched for exceptions."""

    def __init__(self, problems: Problems, changed: Callable[[Running], None]) -> None:
        """Begin; `changed` is called when a compile has a new exception."""
        self._problems = problems
        self._changed = changed
        self._ends: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self.unwatched = False
        """Whether this torch holds a graph in a way that hides its exceptions."""

    def watch(self, running: Running, new_code: types.CodeType) -> None:
        """Watch the graphs that Dynamo's code of a compile calls, until the end of the context."""
        scope, backend = seams.globals_in_progress(), caller.backend()

        def raised(error: Exception, frame: types.FrameType | None, part: str) -> None:
            """Note an exception of compiled code.

            Args:
                error: the exception.
                frame: the frame that called the graph.
                part: `forward` or `backward`.
            """
            with self._problems.contained("noting an exception of compiled code"), paused():
                self._note(running, error, backend, frame, part)

        if not isinstance(scope, Mapping):
            return
        for name in new_code.co_names:
            graph = scope.get(name) if compiled_fn_number(name) is not None else None
            end = watch_graph(graph, unseen(raised)) if graph is not None else None
            if end is not None:
                self._ends.append(end)
            elif graph is not None:
                self.unwatched = True

    def end(self) -> None:
        """Leave the graphs as torch made them."""
        for end in self._ends:
            end()
        self._ends.clear()

    def _note(
        self, running: Running, error: Exception, backend: str, frame: types.FrameType | None, part: str
    ) -> None:
        from depyf.torch.adapters.raised import call_failure  # only a failure needs it

        with self._lock:
            add_call_failure(running.compile, call_failure(error, backend, frame, part))
        self._changed(running)


def add_call_failure(compiled: Compile, failure: Failure) -> None:
    """Add a failure of a call to a compile, or count it if the compile has it already."""
    key = failure.kind, failure.where, failure.summary
    for call_failure in compiled.call_failures:
        if (call_failure.failure.kind, call_failure.failure.where, call_failure.failure.summary) == key:
            call_failure.times += 1
            return
    if len(compiled.call_failures) < MOST_CALL_FAILURES:
        compiled.call_failures.append(CallFailure(failure))
