"""Dispatch torch's reports to contexts, which share one set of hooks.

The first context installs the hooks. The last one removes them.
"""

from __future__ import annotations

import json
import os
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, Protocol

from depyf.bytecode.host import paused
from depyf.model.run import CompileId, Unavailable
from depyf.torch.adapters import lacking, seams
from depyf.torch.adapters.compiled_modules import watch_methods
from depyf.torch.adapters.cuda_graphs import CudaGraphLogs
from depyf.torch.adapters.formatter import FormatterPatch
from depyf.torch.adapters.kernel_caches.look import KernelLook
from depyf.torch.adapters.kernel_caches.watch import KernelCaches
from depyf.torch.adapters.lines_read import watch_lines
from depyf.torch.adapters.made_code import watch_code
from depyf.torch.adapters.runs import watch_runs
from depyf.torch.adapters.skips import watch_skips
from depyf.torch.adapters.stances import watch_stances
from depyf.torch.adapters.unheard import hearing_trace, own_time, pass_on
from depyf.torch.adapters.unseen import unseen
from depyf.torch.adapters.user_frames import leave_out_default_device
from depyf.torch.capture.own_records import line_about, record_of
from depyf.torch.capture.run_counts import Counter, RunCounts
from depyf.trace import stages
from depyf.trace.cuda_graphs import of_log
from depyf.trace.records import record_compile_id, record_kind

HITS = "calls that each entry served"
"""The seam that counts them."""


class Context(Protocol):
    """Receives the reports on its compiles. An error in one of its methods goes to its `on_error`."""

    def on_record(self, metadata: Mapping[str, Any], payload: str | None) -> None:
        """Receive one record of torch's structured trace."""

    @property
    def replaces_code(self) -> bool:
        """Whether `on_code` may return other code."""

    def on_code(self, code: types.CodeType, new_code: types.CodeType) -> types.CodeType | None:
        """Receive Dynamo's code; return the code to run instead, or None.

        The code comes from a bytecode hook if this context replaces code. Otherwise it is the code that will run, after
        the program's own hooks.
        """

    def on_graph(self, caller: str, name: str, module: seams.GraphModule) -> None:
        """Receive a graph that the module `caller` formatted under a name."""

    def on_run(self, code: types.CodeType) -> bool:
        """Receive compiled code that is about to run; return whether this context made it. Does not raise."""

    def counter(self, code: types.CodeType) -> Counter | None:
        """Return where to count the runs of code made here, None while they need more than that. Does not raise."""

    def on_earlier_run(self, code: types.CodeType) -> None:
        """Receive code that is about to run and that no active context compiled. Does not raise."""

    def on_skip(self, name: str, reason: str, filename: str) -> None:
        """Receive a function that Dynamo skips. Does not raise.

        Args:
            name: the name of the function.
            reason: torch's reason.
            filename: the file of the function.
        """

    def on_bypass(self, kind: str, *facts: Any) -> None:
        """Receive what may have bypassed compiled code: the name of an event, and torch's objects. Does not raise."""

    def on_error(self, where: str, error: BaseException) -> None:
        """Receive an error inside depyf. Does not raise."""


class ActiveContexts:
    """The active contexts, and depyf's hooks in torch while there are any."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._entered: list[tuple[int, Context]] = []
        self._owners: dict[CompileId, Context] = {}
        self._hooks: ExitStack | None = None
        self._unavailable: dict[str, str] = {}
        self._kernel_caches: KernelCaches | None = None
        self._cuda_graphs: CudaGraphLogs | None = None
        self._counts = RunCounts(self.on_run)
        self._hears_code = False
        """Whether the code that will run is heard of without a bytecode hook."""
        self._is_hook = False
        """Whether a bytecode hook is registered, for a context that replaces code."""

    def enter(self, context: Context) -> dict[str, str]:
        """Activate a context; return the seams that this torch does not have, with reasons."""
        with self._lock:
            if self._hooks is None:
                self._hooks, self._unavailable = self._install()
            if not self._is_hook and (context.replaces_code or not self._hears_code):
                self._hooks.callback(seams.register_bytecode_hook(self._bytecode_hook).remove)
                self._is_hook = True
            self._counts.clear()
            self._entered.append((threading.get_ident(), context))
            return dict(self._unavailable)

    def leave(self, context: Context) -> None:
        """Deactivate a context. The last one removes depyf's hooks from torch."""
        with self._lock:
            self._entered = [pair for pair in self._entered if pair[1] is not context]
            self._counts.clear()
            self._owners = {key: owner for key, owner in self._owners.items() if owner is not context}
            if not self._entered and self._hooks is not None:
                hooks, self._hooks = self._hooks, None
                self._is_hook = False
                hooks.close()

    def after_fork(self) -> None:
        """Deactivate all contexts in a forked child: its parent owns the files, and other threads' locks stay held."""
        self._lock = threading.RLock()
        self._entered = []
        self._owners = {}
        self._counts.clear()

    def hear_runs(self) -> None:
        """Pass the next run of each code object on to its context, also where runs were only counted."""
        self._counts.clear()

    def is_any_entered(self) -> bool:
        """Return whether any thread has an active context."""
        with self._lock:
            return bool(self._entered)

    def current(self) -> Context | None:
        """Return the context that this thread entered last, else the one that any thread entered last, or None."""
        with self._lock:
            return self._owner(None)

    def _on_trace(self, kind: str, metadata: Mapping[str, Any], payload: str | None) -> None:
        # A model with many parameters has a record or two of this kind for each.
        if kind == stages.TIMELINE and pass_on(json.loads(payload or "{}")) or kind not in stages.UNINTERESTING:
            self.on_record(metadata, payload)

    def on_record(self, metadata: Mapping[str, Any], payload: str | None) -> None:
        """Pass a record to the context that it belongs to."""
        with self._contained("reading a record of torch's trace"):
            if self._kernel_caches is not None:
                self._kernel_caches.look_for_modules()
            if self._cuda_graphs is not None:
                self._cuda_graphs.look_for_loggers()
            compile_id = record_compile_id(metadata)
            begins = record_kind(metadata)[0] in (stages.FRAME_STARTS, stages.RECOMPILE_REASONS)
            owner = self._owner(compile_id, begins=begins and not metadata.get("attempt"))
            if owner is not None:
                owner.on_record(metadata, payload)

    def on_kernel_look(self, read: Callable[[], KernelLook]) -> None:
        """Pass a lookup in a cache of kernels to the context of the running compile."""
        with self._contained("reading a look into a cache of kernels"):
            self.on_record(*record_of(read()))

    def on_cuda_graph(self, line: str, about: tuple[CompileId, int] | None, part: str) -> None:
        """Pass a line about CUDA graphs to the context of its compile.

        Args:
            line: the line of the log.
            about: the compile and its attempt, or None if unknown.
            part: `forward`, `backward`, or "".
        """
        if of_log(line) is not None:
            self.on_record(line_about(about, part), line)

    def unheard_caches(self) -> dict[str, str]:
        """Return the caches of kernels that cannot be observed here, with reasons, as far as they were requested."""
        return dict(self._kernel_caches.unavailable) if self._kernel_caches is not None else {}

    def on_code(
        self, code: types.CodeType, new_code: types.CodeType, *, from_hook: bool = False
    ) -> types.CodeType | None:
        """Pass Dynamo's code to the context of its compile, once: from a hook only if it replaces code.

        Args:
            code: the code of the user's function.
            new_code: the code that Dynamo made for it.
            from_hook: whether Dynamo's hook reports the code, which can replace it.
        """
        with self._contained(f"showing Dynamo's code for {code.co_name}"):
            current = seams.current_compile()
            owner = self._owner(current[0] if current is not None else None)
            if owner is not None and from_hook == (owner.replaces_code or not self._hears_code):
                return owner.on_code(code, new_code)
        return None

    def on_graph(self, caller: str, name: str, module: seams.GraphModule) -> None:
        """Pass a formatted graph to the context of the running compile.

        Args:
            caller: the module that called torch's formatter.
            name: the name of the graph.
            module: the graph.
        """
        with self._contained(f"dumping the graph {name!r}"):
            current = seams.current_compile()
            owner = self._owner(current[0] if current is not None else None)
            if owner is not None:
                owner.on_graph(caller, name, module)

    def on_run(self, code: types.CodeType) -> None:
        """Report that compiled code is about to run to the context that made it, else to the one entered last."""
        entered = self._entered
        for _, context in entered:
            if context.on_run(code):
                counter = context.counter(code)
                if counter is not None:
                    self._counts.add(code, counter)
                return
        for _, context in entered[-1:]:
            context.on_earlier_run(code)

    def on_skip(self, name: str, reason: str, filename: str) -> None:
        """Report a skipped frame to the context that this thread entered last.

        Args:
            name: the name of the function.
            reason: torch's reason.
            filename: the file of the function.
        """
        with self._contained(f"noting that {name} was skipped"):
            owner = self._owner(None)
            if owner is not None:
                owner.on_skip(name, reason, filename)

    def on_method(self, module: object, name: str, method: types.MethodType, frame: types.FrameType) -> None:
        """Report a method of the original module that a program takes off a compiled one.

        Args:
            module: the original module.
            name: the name of the method.
            method: the method.
            frame: the frame of the program that takes it.
        """
        self.on_bypass("method", module, name, method, frame)

    def on_bypass(self, kind: str, *facts: Any) -> None:
        """Report what may have bypassed compiled code to the context that this thread entered last."""
        with self._contained("noting a call that compiled code does not serve"):
            owner = self._owner(None)
            if owner is not None:
                owner.on_bypass(kind, *facts)

    @contextmanager
    def _contained(self, where: str) -> Iterator[None]:
        """Run a block inside torch's own call of depyf, so that an error in it does not affect the user's program.

        The garbage collector is paused. Otherwise depyf's objects would make it scan all of Dynamo's objects during a
        compile.
        """
        try:
            with own_time(), paused():
                yield
        except Exception as error:  # noqa: BLE001 - whatever it is, the user's program goes on
            with self._lock:
                contexts = [context for _, context in self._entered]
            for context in contexts[-1:]:
                context.on_error(where, error)

    def _owner(self, compile_id: CompileId | None, *, begins: bool = False) -> Context | None:
        with self._lock:
            if compile_id is not None and not begins and compile_id in self._owners:
                return self._owners[compile_id]
            if not self._entered:
                return None
            thread = threading.get_ident()
            of_thread = [context for entered_by, context in self._entered if entered_by == thread]
            owner = of_thread[-1] if of_thread else self._entered[-1][1]
            if compile_id is not None:
                self._owners[compile_id] = owner
            return owner

    def _install(self) -> tuple[ExitStack, dict[str, str]]:
        hooks, unavailable = ExitStack(), lacking.reasons()
        with ExitStack() as undo_on_error:
            undo_on_error.push(hooks)
            unwatch = watch_code(self.on_code)
            self._hears_code = not isinstance(unwatch, Unavailable)
            if not isinstance(unwatch, Unavailable):
                hooks.callback(unwatch)
            if seams.has_structured_trace():
                hooks.enter_context(hearing_trace(self._on_trace))
            patch = FormatterPatch(self.on_graph)
            missing = patch.install()
            hooks.callback(patch.remove)
            if isinstance(missing, Unavailable):
                unavailable["graphs that clients format"] = missing.reason
            for name, begin in (
                (HITS, partial(watch_runs, self._counts.listener)),
                ("frames that Dynamo skipped", partial(watch_skips, self.on_skip)),
                ("lines that Dynamo read", watch_lines),
                ("lines of nodes with a default device", leave_out_default_device),
                ("methods of compiled modules", partial(watch_methods, self.on_method)),
                ("calls under a stance", partial(watch_stances, self.on_bypass)),
            ):
                ended = begin()
                if isinstance(ended, Unavailable):
                    unavailable[name] = ended.reason
                else:
                    hooks.callback(ended)
            self._cuda_graphs = CudaGraphLogs(unseen(self.on_cuda_graph))
            self._cuda_graphs.look_for_loggers()
            if self._cuda_graphs.unavailable:
                unavailable["CUDA graphs"] = self._cuda_graphs.unavailable
            hooks.callback(self._cuda_graphs.end)
            self._kernel_caches = KernelCaches(unseen(self.on_kernel_look))
            hooks.callback(self._kernel_caches.end)
            undo_on_error.pop_all()
        return hooks, unavailable

    def _bytecode_hook(self, code: types.CodeType, new_code: types.CodeType) -> types.CodeType | None:
        return self.on_code(code, new_code, from_hook=True)


ACTIVE = ActiveContexts()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=ACTIVE.after_fork)


class _Deaf:
    """A context that receives everything and keeps nothing."""

    replaces_code = False

    def on_record(self, metadata: Mapping[str, Any], payload: str | None) -> None:
        pass

    def on_code(self, code: types.CodeType, new_code: types.CodeType) -> types.CodeType | None:
        return None

    def on_graph(self, caller: str, name: str, module: seams.GraphModule) -> None:
        """Ignore a graph.

        Args:
            caller: the module that called torch's formatter.
            name: the name of the graph.
            module: the graph.
        """

    def on_run(self, code: types.CodeType) -> bool:
        return False

    def counter(self, code: types.CodeType) -> Counter | None:
        return None

    def on_earlier_run(self, code: types.CodeType) -> None:
        pass

    def on_skip(self, name: str, reason: str, filename: str) -> None:
        """Ignore a skipped function.

        Args:
            name: the name of the function.
            reason: torch's reason.
            filename: the file of the function.
        """

    def on_bypass(self, kind: str, *facts: Any) -> None:
        pass

    def on_error(self, where: str, error: BaseException) -> None:
        raise error


@contextmanager
def silenced() -> Iterator[None]:
    """Hide this thread's compiles, which are depyf's own, from the active contexts."""
    if not ACTIVE.is_any_entered():
        yield
        return
    deaf = _Deaf()
    ACTIVE.enter(deaf)
    try:
        yield
    finally:
        ACTIVE.leave(deaf)
