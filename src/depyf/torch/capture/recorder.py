"""Join the reports of torch in a running process: the records of its trace, and their code objects."""

from __future__ import annotations

import os
import time
import types
import weakref
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from depyf.bytecode.records import dataclass
from depyf.model.names import resumed_function
from depyf.model.phases import KERNELS
from depyf.model.run import Artefact, CompileId, Dialect, Function, Session, Unavailable
from depyf.model.user_line import UserLine
from depyf.model.user_source import function_source, line_at
from depyf.torch.adapters import caller, seams
from depyf.torch.adapters.compile_times import kernel_seconds
from depyf.torch.adapters.skips import OF_TORCH
from depyf.torch.capture.line_facts import name_of
from depyf.torch.capture.weak_codes import WeakCodes
from depyf.torch.guards.tree import Tree
from depyf.trace import cuda_graphs, join, records, stages
from depyf.trace.directory import Files

if TYPE_CHECKING:
    from depyf.torch.capture.equal_codes import EqualCodes
    from depyf.trace.autotuning import Tunings

SKIPPED = "Dynamo skipped the frame: there is no code to guard"


@dataclass(slots=True, eq=False)
class Running(join.Running):
    """A compile of this process with the state of the join, which is not part of the model.

    `code` is a copy of the user's code object, and `live_code` refers to the code itself. torch's cache belongs to that
    code, and the user's objects belong to the cache.
    """

    code: types.CodeType | None = None
    live_code: weakref.ref[types.CodeType] | None = None
    guards: Tree | None = None
    placeholders: Mapping[str, object] = field(default_factory=dict)
    entry_is_read: bool = False
    reason: str = ""
    """The line in the file of its code that says why it was compiled."""
    unwritten: Callable[[], None] | None = None
    """Writes the file of its code, which waits until the reason for the compile is known."""
    is_ahead: bool = False
    """Whether it was compiled before any call, for the program to keep. Then torch's cache has no entry for it."""


@dataclass(frozen=True, slots=True)
class CallSite:
    """Where a resume function is called: the compile whose code calls it, and its global name there.

    The code of other compiles may call the same function by `other_names`.
    """

    caller: Running
    name: str
    other_names: list[str] = field(default_factory=list)


class Recorder(join.Join[Running]):
    """The state of one context. Every method may be called from any thread."""

    def __init__(
        self,
        session: Session,
        dump: Files,
        *,
        keep_restarted: bool,
        kernels: bool = True,
        known: Callable[[types.CodeType], Function | None] = lambda _: None,
    ) -> None:
        """Begin to record; `known` returns the function for a code object from an earlier context in the directory."""
        super().__init__(
            session,
            dump,
            Running,
            keep_restarted=keep_restarted,
            resume_prefix=seams.RESUME_PREFIX,
            kernels=kernels,
            # The guards are read from torch's own objects while it writes its text of them.
            not_kept=frozenset((stages.GUARD_TREE, cuda_graphs.LOG)),
        )
        self.call_sites: WeakCodes[CallSite] = WeakCodes()
        self._by_code: WeakCodes[Running] = WeakCodes()
        self._codes: dict[str, weakref.ref[types.CodeType]] = {}
        self._copies: list[tuple[types.CodeType, Running]] = []
        self._known_before = known
        self._equal_codes: EqualCodes | None = None
        self._kernel_seconds = kernel_seconds()
        self._tunings: Tunings | None = None

    def record(self, metadata: Mapping[str, Any], payload: str | None) -> Running | None:
        """Process a record as any join does, or an event of the timeline about tuning."""
        if records.record_kind(metadata)[0] != stages.TIMELINE:
            return super().record(metadata, payload)
        if self._tunings is None:
            # Few programs tune kernels.
            from depyf.trace.autotuning import Tunings

            self._tunings = Tunings()
        self._tunings.take(payload or "")
        return None

    def end_of_context(self) -> None:
        """Write the artefacts that still wait, and how kernels were tuned."""
        with self.lock:
            if (tunings := self._tunings) is not None:
                for running in self._all:
                    if (tuning := tunings.artefact_of(str(running.compile.id.of_torch))) is not None:
                        self._add(running, tuning)
            super().end_of_context()

    def last(self) -> Running | None:
        """Return the compile that began last, or None."""
        with self.lock:
            return self._all[-1] if self._all else None

    def equal_codes(self) -> EqualCodes:
        """Return the decompilations of Dynamo's code so far."""
        if self._equal_codes is None:
            # Import the decompiler only when there is something to decompile.
            from depyf.torch.capture.equal_codes import EqualCodes
            from depyf.torch.capture.kept_proofs import kept_proofs

            self._equal_codes = EqualCodes(kept_proofs())
        return self._equal_codes

    def knows(self, compile_id: CompileId) -> bool:
        """Return whether a compile has begun."""
        return compile_id in self._running

    def phase_of(self, compile_id: CompileId | None) -> str:
        """Return the current phase of a compile, or ""."""
        running = self.known(compile_id)
        return running.compile.phase if running is not None else ""

    def known(self, compile_id: CompileId | None) -> Running | None:
        """Return a compile that has begun, or None."""
        return self._running.get(compile_id) if compile_id is not None else None

    def begun(self, compile_id: CompileId, code: types.CodeType) -> Running:
        """Return a compile. If its first record was not seen, it begins here, with the names of `code`."""
        with self.lock:
            running = self._running.get(compile_id)
            if running is None:
                here = UserLine(code.co_filename, code.co_firstlineno, "", code.co_name)
                running = self._begin(compile_id, (here,), code)
            return running

    def begun_at(
        self, compile_id: CompileId, stack: tuple[UserLine, ...], code: types.CodeType | None = None
    ) -> Running:
        """Return a compile. If its first record was not seen, it begins here, at the last line of a stack.

        Args:
            compile_id: the id of the compile.
            stack: the user's lines that led to it, the compiled function last.
            code: the code of the function, if known.
        """
        with self.lock:
            running = self._running.get(compile_id)
            if running is None:
                running = self._begin(compile_id, stack, code)
                running.compile.user_stack = stack[:-1]
            return running

    def await_runs(self, code: types.CodeType) -> None:
        """Count the runs of `code`, which the running compile has made."""
        current = seams.current_compile()
        running = self._running.get(current[0]) if current is not None else None
        if running is not None:
            running.compile.hits = 0
            self._by_code[code] = running

    def await_copies(self, running: Running, code: types.CodeType) -> None:
        """Count the runs of code equal to `code`, from a compile of another process."""
        running.compile.hits = 0
        self._copies.append((code, running))

    def count_run(self, code: types.CodeType) -> Running | None:
        """Record that compiled code is about to run; return the compile that made it, or None for an earlier one."""
        running = self._by_code.get(code) or self.made(code)
        if running is not None:
            running.compile.hits = (running.compile.hits or 0) + 1
        return running

    def made(self, code: types.CodeType) -> Running | None:
        """Return the compile that made `code`, or None for an earlier one."""
        running = self._by_code.get(code)
        if running is None and self._copies:
            running = next((running for copy, running in self._copies if copy == code), None)
            if running is not None:
                self._by_code[code] = running
        return running

    def skipped(self, name: str, reason: str, filename: str) -> Function | None:
        """Record that Dynamo skipped a frame, which explains a compile without code.

        Return the function of that compile, or None if it had not begun. Frames in torch itself without a compile are
        ignored.

        Args:
            name: the name of the function.
            reason: torch's reason.
            filename: the file of the function.
        """
        with self.lock:
            if not filename.startswith(OF_TORCH):
                key = name, filename, reason
                self.session.skipped[key] = self.session.skipped.get(key, 0) + 1
            last = self._all[-1].compile if self._all else None
            if last is not None and (last.name, last.filename) == (name, filename):
                if isinstance(last.transformed, Unavailable) and last.failure is None:
                    last.transformed, last.guards = Unavailable(reason), Unavailable(SKIPPED)
                    return self._all[-1].function
            return None

    def client_graph(self, compile_id: CompileId | None, name: str, text: str) -> None:
        """Dump a graph for a client of torch's formatter.

        Args:
            compile_id: the running compile, or None.
            name: the name that the client gives the graph.
            text: the printed graph.
        """
        with self.lock:
            artefact = Artefact(name, Dialect.GRAPH, text)
            if compile_id is None or compile_id not in self._running:
                self.session.loose.append(artefact)
                self._write(artefact, None, None)
            else:
                self._add(self._running[compile_id], artefact)

    def leaves_out(self, kind: str) -> bool:
        """Return whether a kind of record has nothing to join. depyf writes its own listings."""
        return kind in stages.UNINTERESTING or kind == stages.INTERNED_STRING or kind.endswith(stages.BYTECODE_SUFFIXES)

    def place_of_start(self, details: Mapping[str, Any]) -> tuple[tuple[UserLine, ...], object]:
        """Return the stack of a starting compile, completed from the running frames, and its code."""
        frames = records.user_stack(details.get("stack"), self.strings())
        not_users = (*seams.OF_DYNAMO, seams.OF_DEPYF, os.path.join(self.dump.directory, ""))
        user_frames = tuple(frame for frame in frames if not frame.filename.startswith(not_users))
        code = caller.code_in_progress()
        return records.with_last_frames(user_frames, caller.place_of_call(not_users), code), code

    def strings(self) -> Mapping[int, str]:
        """Return torch's own table of the file names in its stacks."""
        strings = seams.interned_strings()
        return strings if isinstance(strings, dict) else {}

    def now(self) -> float:
        """Return the seconds since the context was entered."""
        return time.monotonic() - self.session.entered

    def line_at(self, filename: str, line: int, function: str = "") -> UserLine:
        """Return a line with its text, because this process runs it.

        Args:
            filename: the path of the file.
            line: the line number, from 1.
            function: the name of the function around it, if known.
        """
        return line_at(filename, line, function)

    def source_of(self, here: UserLine) -> str:
        """Return the text of the function that begins at a line."""
        return function_source(here.filename, here.line)

    def keep_source(self, filename: str) -> None:
        """Copy a file with compiled code into the dump."""
        from depyf.torch.capture.sources import keep_source  # only a compile needs it

        keep_source(self.session, self.dump, filename)

    def known_before(self, code: object) -> Function | None:
        """Return the function for a code object from an earlier context in the directory."""
        return self._known_before(code) if isinstance(code, types.CodeType) else None

    def _begin(self, compile_id: CompileId, stack: tuple[UserLine, ...], code: object = None) -> Running:
        running = super()._begin(compile_id, stack, code)
        from depyf.torch.capture.calls import call_in_progress  # only a compile needs it

        running.compile.call = call_in_progress(running.function, self._function_of)
        return running

    def _function_of(self, code: types.CodeType) -> Function | None:
        """Return the function of which a compile made `code`, or None."""
        running = self._by_code.get(code)
        return running.function if running is not None else None

    def _function(self, compile_id: CompileId, here: UserLine, code: object) -> Function:
        function = super()._function(compile_id, here, code)
        if isinstance(code, types.CodeType):
            self._codes[function.key] = weakref.ref(code)
            wrapped = "" if resumed_function(code.co_name) else caller.wrapped_name(code)
            if not function.qualname:
                function.qualname = wrapped or name_of(code)
            elif wrapped not in ("", function.qualname):
                # Another function has the same decorator, so entries of both have the same code.
                function.qualname = name_of(code)
        return function

    def unwritten(self) -> list[Running]:
        """Return the compiles whose file of code waits for guards."""
        return [running for running in self.running() if running.unwritten is not None]

    def note_kernel_seconds(self, kind: str, running: Running | None) -> None:
        """Record how long kernels were compiled, at the end of a compile or of its backward."""
        if kind not in (stages.FRAME_STARTS, stages.FRAME_ENDS, stages.BACKWARD_ENDS):
            return
        before, self._kernel_seconds = self._kernel_seconds, kernel_seconds()
        spent = round(self._kernel_seconds - before, 6)
        if running is not None and spent > 0 and kind != stages.FRAME_STARTS:
            name = KERNELS if kind == stages.FRAME_ENDS else f"backward {KERNELS}"
            running.compile.seconds[name] = running.compile.seconds.get(name, 0.0) + spent

    def code_of(self, function: Function) -> types.CodeType | None:
        """Return the code of a function with a compile, while the program holds it."""
        held = self._codes.get(function.key)
        return held() if held is not None else None

    def _note_break(self, running: Running, payload: str, attempt: int) -> None:
        breaks = running.compile.breaks
        count = len(breaks)
        super()._note_break(running, payload, attempt)
        code = getattr(caller.disabled_function(), "__code__", None)
        if len(breaks) > count and isinstance(code, types.CodeType):
            breaks[-1] = replace(breaks[-1], called=line_at(code.co_filename, code.co_firstlineno, code.co_name))

    def _finish(self, running: Running, metrics: Mapping[str, Any]) -> None:
        super()._finish(running, metrics)
        compiled = running.compile
        if running.is_ahead and compiled.began is not None:
            # torch gives no total time for it.
            compiled.seconds.setdefault("total", round(time.monotonic() - self.session.entered - compiled.began, 6))
