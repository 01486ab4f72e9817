"""The capture inside a launched program. It begins when Dynamo is first imported and ends with the process.

Only this part of depyf is imported before. The program runs as the main program of its own interpreter. A process that
the program starts writes to its own folder.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from depyf.cli.launch.errors import contained, end_as_misused
from depyf.cli.launch.settings import PROCESS, Settings, own_settings
from depyf.trace.start_clock import StartClock

if TYPE_CHECKING:
    from depyf.cli.launch.pause import Pause
    from depyf.model.run import Session
    from depyf.torch.bits.recorder import BitsRecorder
    from depyf.torch.capture.compile_times import CompileTiming
    from depyf.torch.capture.prepare import prepare_debug
    from depyf.torch.profile.context import Profiling

DYNAMO = "torch._dynamo"
CODE_CACHE = "torch._inductor.codecache"
"""The module that writes Inductor's modules. Bits are recorded from its import on, and not earlier: Dynamo may be
imported while Inductor's package is, and then most of Inductor cannot be imported yet."""
OWNER = "DEPYF_RUN_RANK"
"""The process that owns a rank's folder sets this to the number of the rank."""


class _Capture:
    """The capture of this process, after it has begun."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.context: prepare_debug | None = None
        self.session: Session | None = None
        self.directory = ""
        self.pause: Pause | None = None
        self.profiling: Profiling | None = None
        self.timing: CompileTiming | None = None
        self.bits: BitsRecorder | None = None
        self.clock = StartClock() if settings.compile_times else None
        self._awaits_forks = False
        if self.clock is not None:
            self.clock.begin()

    def begin(self) -> None:
        """Begin to capture. On an error, the program continues without a capture."""
        with contained("beginning the capture"):
            from depyf.cli.launch.pause import say_what_is_lacking
            from depyf.torch.capture.options import DumpOptions
            from depyf.torch.capture.prepare import prepare_debug

            self.directory = self._own_directory()
            self.pause = self._pause() if self.settings.debug else None
            options = DumpOptions(
                log_bytecode=self.settings.log_bytecode or self.settings.listings,
                keep_index=True,
                only=self.settings.only,
                kernels=self.settings.kernels,
                keep_trace=self.settings.keep_trace,
                stack_after=self.settings.stack_after,
                install=self.settings.debug,
                before_run=self.pause,
                all_files=self.settings.all_files,
                packs_listings=not self.settings.log_bytecode,
            )
            context = prepare_debug.with_options(self.directory, options)
            self.session = context.__enter__()
            if self.settings.debug:
                say_what_is_lacking(self.session.unavailable)
            self.context = context
            if self.settings.profile:
                self._begin_to_measure()
            if self.settings.compile_times:
                self._begin_to_time()
            if self.settings.bits:
                after_import(CODE_CACHE, self._begin_to_record_bits)
            if self.settings.backend:
                from depyf.torch.adapters.forced_backend import force_backend

                force_backend(self.settings.backend, refuse=end_as_misused)
            self._end_with_process()
            self._begin_in_forks()

    def end(self) -> None:
        """End the capture, if there is one, and write its index. A process that compiled nothing leaves no folder."""
        context, self.context = self.context, None
        if context is None:
            return
        if self.pause is not None:
            self.pause.end()
        timing, self.timing = self.timing, None
        if timing is not None:
            with contained("ending the measuring of compile times"):
                timing.end()
        bits, self.bits = self.bits, None
        if bits is not None:
            with contained("ending the recording of bits"):
                bits.end()
        profiling, self.profiling = self.profiling, None
        if profiling is not None:
            with contained("ending the measuring"):
                profiling.end()
        context.__exit__(None, None, None)
        if profiling is not None and self.session is not None and self.session.functions:
            with contained("writing the profile"):
                profiling.write(Path(self.session.directory))
        if timing is not None and self.session is not None and self.session.functions:
            with contained("writing the compile times"):
                timing.write(self.session)
        is_helper = self.directory != self.settings.directory
        if is_helper and self.session is not None and not (self.session.functions or self.session.loose):
            shutil.rmtree(self.directory, ignore_errors=True)
        _stay_interrupted()

    def _begin_to_measure(self) -> None:
        from depyf.torch.profile.context import Profiling

        self.profiling = Profiling(against_eager=self.settings.against_eager)
        self.profiling.begin()

    def _begin_to_time(self) -> None:
        from depyf.torch.capture.compile_times import CompileTiming

        self.timing = CompileTiming(self.clock)
        self.timing.begin()

    def _begin_to_record_bits(self) -> None:
        with contained("beginning to record bits"):
            from depyf.torch.bits.kept import read_place
            from depyf.torch.bits.recorder import BitsRecorder, Command

            if self.session is not None and self.context is not None:
                keep = read_place(self.settings.bits_of) if self.settings.bits_of else None
                command = Command(sys.orig_argv[1:], self.settings.changed)
                try:
                    self.bits = BitsRecorder(Path(self.session.directory), command, keep)
                except ValueError as error:
                    end_as_misused(str(error))
                self.bits.begin()

    def _pause(self) -> Pause:
        """Return the object that pauses in this process. Only the program itself may use the terminal."""
        from depyf.cli.launch.pause import Pause

        return Pause(has_terminal=self.directory == self.settings.directory and "RANK" not in os.environ)

    def after_fork(self) -> None:
        """Begin again in a forked child; the parent keeps its capture."""
        if self.context is not None:
            self.end()
            self.begin()

    def _own_directory(self) -> str:
        """Return the directory of this process: that of the program itself, or a folder in it for other processes.

        `prepare_debug` gives a rank its folder. The processes that a rank starts have its number too.
        """
        rank = os.environ.get("RANK")
        if os.getppid() == self.settings.launcher or (rank is not None and os.environ.get(OWNER) != rank):
            if rank is not None:
                os.environ[OWNER] = rank
            return self.settings.directory
        number = 1
        while True:
            path = os.path.join(self.settings.directory, PROCESS.format(number))
            try:
                os.makedirs(path)
                return path
            except FileExistsError:
                number += 1

    def _end_with_process(self) -> None:
        """End the capture with the interpreter. A child of `multiprocessing` skips `atexit` but runs finalizers."""
        from multiprocessing import util

        atexit.unregister(self.end)
        atexit.register(self.end)
        util.Finalize(None, self.end, exitpriority=0)
        util.register_after_fork(self, _Capture._finalize_in_child)

    def _begin_in_forks(self) -> None:
        """Begin again in forked children, after the fork handler of `depyf.torch`, which was registered earlier."""
        if hasattr(os, "register_at_fork") and not self._awaits_forks:
            os.register_at_fork(after_in_child=self.after_fork)
            self._awaits_forks = True

    def _finalize_in_child(self) -> None:
        from multiprocessing import util

        util.Finalize(None, self.end, exitpriority=0)


class _After(Loader):
    """Load a module with its own loader, then call a function."""

    def __init__(self, loader: Loader, begin: Callable[[], None]) -> None:
        self._loader = loader
        self._begin = begin

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module, then begin."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._begin()


class _Finder(MetaPathFinder):
    """Wait for the import of a module."""

    def __init__(self, name: str, begin: Callable[[], None]) -> None:
        self._name = name
        self._begin = begin

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the module with the other finders, and call the function after its import.

        Args:
            fullname: the name of the module.
            path: the path of its package, as the import system passes it.
            target: the module to reload, as the import system passes it.
        """
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _After(spec.loader, self._begin)
        return spec


def after_import(name: str, begin: Callable[[], None]) -> None:
    """Call a function after the import of a module, or now if the module was imported."""
    if name in sys.modules and not getattr(sys.modules[name].__spec__, "_initializing", False):
        begin()
    else:
        sys.meta_path.insert(0, _Finder(name, begin))


def await_dynamo() -> None:
    """Begin the capture when this process imports Dynamo, if a launcher started it."""
    settings = own_settings()
    if settings is None:
        return
    capture = _Capture(settings)
    after_import(DYNAMO, capture.begin)


def _stay_interrupted() -> None:
    """Make Python end by SIGINT after an interrupt that nothing caught, as it does without depyf.

    CPython records such an interrupt in `run_eval_code_obj`, and forgets it when it executes another text. Importing a
    module with dataclasses executes such texts.
    """
    traceback = getattr(sys, "last_traceback", None)
    if getattr(sys, "last_type", None) is not KeyboardInterrupt or traceback is None:
        return
    # A console in the program also prints an interrupt and continues. That one comes from a frame with callers.
    if traceback.tb_frame.f_back is None:
        with contextlib.suppress(KeyboardInterrupt):
            exec("raise KeyboardInterrupt")  # noqa: S102 - nothing but text that is executed makes it note an interrupt
