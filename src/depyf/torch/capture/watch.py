"""Record torch's compiles in a session without files: no decompilation, no text of graphs, no cost for steady calls.

torch reports a compile by its trace, by the code that it caches and by its log of skipped frames. None of them runs
when compiled code is called again, so a watched program pays only for its compiles. This is independent of
`prepare_debug`.
"""

from __future__ import annotations

import contextlib
import threading
import types
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from depyf.bytecode.host import paused
from depyf.model.run import Artefact, Session, Unavailable
from depyf.torch.adapters import lacking, seams
from depyf.torch.adapters.made_code import watch_code
from depyf.torch.adapters.skips import watch_skips
from depyf.torch.adapters.unheard import hearing_trace
from depyf.torch.adapters.versions import python_version, torch_version
from depyf.torch.capture import entries
from depyf.torch.capture.hooks import join
from depyf.torch.capture.recorder import Recorder
from depyf.torch.dump.problems import Problems
from depyf.trace import stages
from depyf.trace.directory import Numbers
from depyf.trace.records import record_compile_id

GRAPH, KERNELS = "dynamo_output_graph", "inductor_output_code"
HEARD = frozenset(
    {
        *(stages.FRAME_STARTS, stages.FRAME_ENDS, stages.BACKWARD_ENDS, stages.GUARD_TREE),
        *(stages.BREAK_REASON, stages.RECOMPILE_REASONS, GRAPH, KERNELS),
        *stages.CACHES,
    }
)
"""The records that are processed. The others cost only a look at their name."""


class _NoFiles:
    """The directory of a session that writes no files."""

    directory = Path("/", "depyf writes no files here")

    def __init__(self) -> None:
        self.numbers = Numbers()

    def write(self, name: str, text: str) -> bool:
        return False

    def remove(self, name: str) -> None:
        pass

    def without_directory(self, text: str) -> str:
        return text

    def artefact_name(self, artefact: Artefact, owner: str, text: str) -> str:
        """Return "": no file is written.

        Args:
            artefact: the artefact.
            owner: the prefix of its file name.
            text: the text of the file.
        """
        return ""


class Watch:
    """Fills a session while it is open. It may be opened again, and then continues the same session."""

    def __init__(self) -> None:
        self.session = Session(torch_version(), python_version(), ended=True)
        self._problems = Problems(_NoFiles.directory)
        self._recorder = Recorder(self.session, _NoFiles(), keep_restarted=False)
        self._hooks: ExitStack | None = None
        self._open = 0
        self._lock = threading.RLock()

    def open(self) -> None:
        """Begin to receive reports on compiles, in all threads."""
        with self._lock:
            self._open += 1
            if self._open == 1:
                self._hooks = self._install()

    def close(self) -> None:
        """Stop after as many closings as openings. Then the session is complete."""
        with self._lock:
            self._open -= 1
            hooks, self._hooks = (self._hooks, None) if not self._open else (None, self._hooks)
        if hooks is not None:
            hooks.close()
            with self._contained("reading the last cache entries"):
                entries.read_new_entries(self._recorder)
            self.session.problems = list(self._problems.found)

    def _install(self) -> ExitStack:
        missing = lacking.structured_trace()
        if missing is not None:
            raise RuntimeError(f"depyf cannot tell what is compiled: {missing.reason}")
        with ExitStack() as hooks:
            hooks.enter_context(hearing_trace(self.on_record))
            for name, begin in (
                ("code that Dynamo made", partial(watch_code, self.on_code)),
                ("frames that Dynamo skipped", partial(watch_skips, self.on_skip)),
            ):
                end = begin()
                if isinstance(end, Unavailable):
                    self.session.unavailable[name] = end.reason
                else:
                    hooks.callback(end)
            return hooks.pop_all()
        raise AssertionError("nothing above swallows an exception")

    def on_record(self, kind: str, metadata: Mapping[str, Any], payload: str | None) -> None:
        """Process one record of torch's structured trace.

        Args:
            kind: torch's name for the record.
            metadata: the record without its payload.
            payload: its payload, if it has one.
        """
        if kind not in HEARD:
            return
        with self._contained("reading a record of torch's trace"):
            if record_compile_id(metadata) is None:
                return  # A test compiles only what a frame calls.
            if kind == stages.FRAME_STARTS:
                entries.read_new_entries(self._recorder)
            text = "" if kind == GRAPH else payload
            running = self._recorder.record(metadata, text)
            if kind == stages.GUARD_TREE and running is not None:
                entries.read_guards_in_progress(self._recorder, running)

    def on_code(self, code: types.CodeType, new_code: types.CodeType) -> None:
        """Record what Dynamo's code calls. The code runs unchanged."""
        with self._contained(f"reading Dynamo's code for {code.co_name}"):
            current = seams.current_compile()
            if current is not None:
                join(self._recorder, self._recorder.begun(current[0], code), code, new_code)

    def on_skip(self, name: str, reason: str, filename: str) -> None:
        """Record a skipped frame.

        Args:
            name: the name of the function.
            reason: torch's reason.
            filename: the file of the function.
        """
        with self._contained(f"noting that {name} was skipped"):
            self._recorder.skipped(name, reason, filename)

    @contextlib.contextmanager
    def _contained(self, where: str) -> Iterator[None]:
        """Run a block inside torch. An error in it becomes a problem of the session, not one of the user's program."""
        with self._problems.contained(where), paused():
            yield
