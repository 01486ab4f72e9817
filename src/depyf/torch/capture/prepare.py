"""`prepare_debug`: write everything that torch compiles in the context to a directory."""

from __future__ import annotations

import contextlib
import os
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depyf.bytecode.host import paused, pausing
from depyf.model.claims import CLAIMS
from depyf.model.failure import Failure
from depyf.model.run import CompileId, Session, Unavailable
from depyf.model.running_compile import SLOW
from depyf.model.variables import SUMMARY_VARIABLE
from depyf.model.writer import INDEX
from depyf.torch.adapters import caller, seams
from depyf.torch.adapters.lines_read import reading_of
from depyf.torch.adapters.trace_file import keep_trace as trace_kept_in
from depyf.torch.adapters.versions import unknown_version
from depyf.torch.capture import entries, hooks
from depyf.torch.capture.active import ACTIVE, HITS
from depyf.torch.capture.ahead_of_time import AheadOfTime
from depyf.torch.capture.beside import Beside
from depyf.torch.capture.eager_calls import EagerCalls
from depyf.torch.capture.earlier import EarlierEntries
from depyf.torch.capture.line_facts import note_lines
from depyf.torch.capture.options import DumpOptions
from depyf.torch.capture.recorder import Recorder, Running
from depyf.torch.capture.run_counts import NOWHERE, Counter
from depyf.torch.capture.selection import Selection
from depyf.torch.capture.untold_records import untold_records
from depyf.torch.dump.problems import Problems, tell_once
from depyf.torch.dump.progress import Progress, running_log
from depyf.torch.dump.rank import rank_directory
from depyf.torch.dump.slow import SlowCompiles
from depyf.torch.dump.told import told_so_far
from depyf.trace import stages
from depyf.trace.directory import LOOSE, Dump
from depyf.trace.records import record_compile_id, record_kind
from depyf.views.summary import show, summary

if TYPE_CHECKING:
    # Each module is imported when it is first needed, so that a program without compiles does not pay for them.
    from depyf.torch.stepping.first_runs import FirstRuns


TRACE = "trace"
"""The folder of a dump for torch's own trace."""


class DumpContext:
    """One entered `prepare_debug`: its data and its directory."""

    def __init__(
        self,
        directory: Path,
        shared: Path,
        whole: Path | None,
        options: DumpOptions,
    ) -> None:
        self.directory = directory
        self._options = options
        self._selection = Selection(options.only)
        self._shared = shared
        self._whole_job = whole
        self._told = told_so_far(directory)
        self.session = self._told.session
        self.session.directory = str(directory)
        self._problems = Problems(directory)
        self._dump = Dump(directory, self._problems, self._told.numbers)
        self._recorder = Recorder(
            self.session,
            self._dump,
            keep_restarted=not options.clean_wild_fx_code,
            kernels=options.kernels,
            known=self._told.function_of,
        )
        self._untraced, self._breaks = untold_records(self._recorder)
        self._earlier = EarlierEntries()
        self._ahead = AheadOfTime(self._recorder)
        self.replaces_code = options.install
        self._progress = Progress(self._write_so_far) if options.keep_index else None
        self._log = running_log(directory, self.session, wanted=options.keep_index)
        self._slow = SlowCompiles(directory / SLOW, options.stack_after)
        self._before_run = options.before_run
        self._first_runs: FirstRuns | None = None
        self._process = os.getpid()
        self._eager_calls = EagerCalls(self.session)
        self._beside = Beside(self.session, self._recorder, self._problems, self._log_running)
        self._trace = contextlib.ExitStack()

    def enter(self) -> None:
        """Begin to receive reports on compiles."""
        if self._options.keep_trace:
            kept = trace_kept_in(self.directory / TRACE)
            if isinstance(kept, Unavailable):
                self.session.unavailable["torch's trace"] = kept.reason
            else:
                self._trace = kept
        self.session.unavailable.update(ACTIVE.enter(self))
        self.session.ended, self.session.findings = False, None

    @pausing
    def leave(self) -> None:
        """Stop receiving reports, and write the rest. Never raises."""
        with self._problems.contained("taking depyf's hooks out of torch"):
            self.session.unavailable.update(ACTIVE.unheard_caches())
            ACTIVE.leave(self)
            self._eager_calls.end()
            self._beside.end()
        with self._problems.contained("ending torch's trace"):
            self._trace.close()
        if os.getpid() != self._process:
            return  # A forked child inherits the context, but its parent writes the files.
        with self._problems.contained("taking functions out of their files"):
            if self._first_runs is not None:
                self._first_runs.end()
        with self._problems.contained("reading the last cache entries"):
            entries.read_new_entries(self._recorder)
            self._told.note_dropped(entries.DROPPED)
            self._told.add(entries.live_compiles(self._recorder))
        for running in self._recorder.unwritten():
            with self._problems.contained(f"writing the code of {running.compile.id}"):
                hooks.write_code(running)
        with self._problems.contained("writing the last artefacts"):
            if self._untraced is not None:
                self._untraced.at_end()
            self._recorder.end_of_context()
        with self._problems.contained("packing files that are seldom opened"):
            if self._options.may_pack:
                from depyf.torch.dump.packing import pack

                pack(self.session, self.directory, listings=self._options.packs_listings)
        self.session.problems.extend(self._problems.found)
        self.session.ended = True
        with self._problems.contained("writing the index"):
            self._write_index()
        with self._problems.contained("removing the log of the run"):
            self._slow.close()
            self._end_log()
        with self._problems.contained("printing the summary of the run"):
            self._tell()
        self._problems.write()
        CLAIMS.release(self.directory)
        self._recorder.forget_texts()

    def _write_so_far(self) -> None:
        with self._problems.contained("writing the index so far"):
            self._write_views()

    def _write_views(self) -> None:
        from depyf.torch.dump.views import write_views

        write_views(self.session, self._recorder.running(), self._earlier, self._dump, self._problems)

    def _end_log(self) -> None:
        """Remove the log when the index has replaced it."""
        log, self._log = self._log, None
        if log is not None and (self.directory / INDEX).is_file():
            log.end()

    def _tell(self) -> None:
        """Print the run in a few lines to a terminal; a program's own output must stay unchanged."""
        if sys.stderr is not None and sys.stderr.isatty() and os.environ.get(SUMMARY_VARIABLE, "1") != "0":
            show(summary(self.session, self.directory), sys.stderr)

    def _write_index(self) -> None:
        """Write the views of the run, and the pages about this and other processes."""
        from depyf.views.process_index import page_of_processes, write_process_index, write_rank_index

        self.session.beside = page_of_processes(self.directory, self._shared)
        self._write_views()
        if self.session.beside:
            write_process_index(self._shared)
        if self._whole_job is not None:
            write_rank_index(self._whole_job)

    def on_record(self, metadata: Mapping[str, Any], payload: str | None) -> None:
        """Process one record of torch's structured trace."""
        if os.getpid() != self._process:
            return
        kind = record_kind(metadata)[0]
        metadata = self._with_id(kind, metadata, payload)
        compile_id = record_compile_id(metadata)
        if kind == stages.FRAME_STARTS and compile_id is not None:
            self._selection.begins(compile_id, caller.code_in_progress())
        if self._selection.leaves_out(compile_id):
            return
        if self._first_runs is not None:
            self._first_runs.changed(compile_id)
        if kind == stages.FRAME_STARTS and compile_id is not None:
            with self._problems.contained("reading cache entries"):
                entries.read_new_entries(self._recorder)
        phase = self._recorder.phase_of(compile_id)
        running = self._recorder.record(metadata, payload)
        if kind == stages.GUARD_TREE:
            self._on_guards(compile_id, running)
        elif kind == stages.FRAME_ENDS and running is not None:
            self._on_end(running, phase)
        self._recorder.note_kernel_seconds(kind, running)
        self._tell_progress(kind, compile_id)

    def _tell_progress(self, kind: str, compile_id: CompileId | None) -> None:
        """Write the changes of a record, and watch the compile that it begins or ends."""
        self._log_compile(compile_id)
        if kind == stages.FRAME_STARTS:
            self._slow.begin(compile_id)
        elif kind == stages.FRAME_ENDS:
            self._slow.end(compile_id)
        if kind in (stages.FRAME_STARTS, stages.FRAME_ENDS):
            self._index_changed()

    def _index_changed(self) -> None:
        """Write the index, or have it written at one of the next runs."""
        if self._progress is not None:
            self._progress.changed()
            if self._progress.is_due:
                ACTIVE.hear_runs()

    def _with_id(self, kind: str, metadata: Mapping[str, Any], payload: str | None) -> Mapping[str, Any]:
        """Return the metadata of a record with its compile id, if it belongs to a compile without a call."""
        compile_id = record_compile_id(metadata)
        if compile_id is None:
            return self._ahead.with_id(metadata, payload)
        if kind != stages.FRAME_STARTS and not self._recorder.knows(compile_id):
            self._ahead.begin(compile_id)
        return metadata

    def _on_end(self, running: Running, phase: str) -> None:
        """Record which lines were read and what interrupted the compile in `phase`. Count eager calls from now on.

        Write its code if torch reported no guards.
        """
        hooks.write_code(running)
        running.compile.backend, running.compile.is_static = caller.backend(), caller.is_static()
        code = caller.code_in_progress()
        if code is None:
            return
        reading = reading_of(code)
        if reading is not None:
            note_lines(running.compile, running.function, reading)
        interrupt = caller.interrupt() if running.code is None else None
        if interrupt is not None and running.compile.failure is None:
            words = str(interrupt) or "it was interrupted"
            running.compile.failure = Failure(type(interrupt).__name__, words, None, phase)
        if (failure := running.compile.failure) is not None:
            from depyf.torch.adapters.raised import completed  # only a failure needs it

            running.compile.failure = completed(failure)
            self._eager_calls.watch(code, running.function)

    def _on_guards(self, compile_id: CompileId | None, running: Running | None) -> None:
        """Show the code of a compile whose guards are reported if no hook does it, and read the guards."""
        if compile_id is not None:
            loaded = self._ahead.loaded(compile_id)
            codes = self._ahead.codes() if loaded is None else loaded[1:]
            shown = compile_id if loaded is None else loaded[0]
            running = self._recorder.known(shown)
            if codes is not None:
                hooks.show_code(
                    self._recorder, self._dump, shown, *codes, log_bytecode=self._options.log_bytecode, install=False
                )
        if running is not None:
            with self._problems.contained(f"reading the guards of {running.compile.id}"):
                entries.read_guards_in_progress(self._recorder, running)
                hooks.tell_reason(self._recorder, running, self._dump)
            self._beside.guarded(running)

    def on_code(self, code: types.CodeType, new_code: types.CodeType) -> types.CodeType | None:
        """Write the source of Dynamo's code; return the code to run instead, or None for Dynamo's own."""
        if os.getpid() != self._process:
            return None
        current = seams.current_compile()
        if current is not None and not self._selection.fits(code):
            self._selection.begins(current[0], code)
            self._selection.leave_out_runs(new_code)
            return None
        untraced = self._untraced
        if untraced is not None and current is not None:
            with self._problems.contained("reading cache entries"):
                entries.read_new_entries(self._recorder)
            self._recorder.begun(current[0], code)
            untraced.before_code(current)
        if self._breaks is not None and current is not None:
            self._breaks.before_code(current)
        listed, install = self._options.log_bytecode, self.replaces_code
        replacement = hooks.on_code(self._recorder, self._dump, code, new_code, log_bytecode=listed, install=install)
        self._beside.compiled(self._recorder.known(current[0]) if current is not None else None, new_code)
        if HITS not in self.session.unavailable:
            self._recorder.await_runs(new_code if replacement is None else replacement)
        self._log_compile(current[0] if current is not None else None)
        if untraced is not None and current is not None:
            hooks.write_code(self._recorder.begun(current[0], code))
            untraced.after_code(current)
            self._index_changed()
        return replacement

    def on_graph(self, made_by: str, name: str, module: seams.GraphModule) -> None:
        """Record the name of the graph that Dynamo captures next, or dump the graph for a client.

        Args:
            made_by: the module that called torch's formatter.
            name: the name of the graph.
            module: the graph.
        """
        if os.getpid() != self._process:
            return
        current = seams.current_compile()
        if current is not None and self._selection.leaves_out(current[0]):
            return
        if current is not None and not self._recorder.knows(current[0]):
            self._ahead.begin(current[0])
        if not made_by.startswith("torch."):
            self._recorder.client_graph(current[0] if current else None, name, seams.graph_text(module))
        elif seams.EXPORTED in name:
            exported = self._ahead.exported(current[0] if current else None)
            if exported is not None:
                self._recorder.client_graph(exported, stages.EXPORTED, seams.graph_text(module))
        elif current is None:
            return
        elif self._untraced is not None:
            self._untraced.on_graph(current, name, module)
        elif name.startswith("__compiled_fn_"):
            self._recorder.name_graph(*current, name)
            self._log_compile(current[0])

    def _log_compile(self, compile_id: CompileId | None) -> None:
        self._log_running(self._recorder.known(compile_id))

    def _log_running(self, running: Running | None) -> None:
        if self._log is not None and running is not None:
            self._log.changed(running.function, running.compile)

    def on_run(self, code: types.CodeType) -> bool:
        """Count a call that an entry of this context serves; return whether it is one."""
        # Getting the process id is a system call.
        if self._progress is not None and self._progress.is_due and os.getpid() == self._process:
            self._progress.offer()
        if self._before_run is not None and os.getpid() == self._process:
            self._run_in_files(code, self._before_run)
        if self._selection.pattern and self._selection.leaves_out_run(code):
            return True
        running = self._recorder.count_run(code)
        if running is not None and self._log is not None:
            self._log.count(running.compile)
        return running is not None

    def counter(self, code: types.CodeType) -> Counter | None:
        """Return the counter for runs of code made here; None while an index is due or `before_run` needs each run."""
        is_due = self._progress is not None and self._progress.is_due
        if is_due or self._before_run is not None or (self._selection.pattern and self._selection.leaves_out_run(code)):
            return None
        running = self._recorder.made(code)
        if running is None:
            return None
        if self._log is None:
            return running.compile, NOWHERE, 0
        place = self._log.place_of_count(running.compile)
        return (running.compile, *place) if place is not None else None

    def _run_in_files(self, code: types.CodeType, tell: Callable[[list[str]], None]) -> None:
        """Run the callees of compiled code in the files of the dump. Report where to break before the first run."""
        from depyf.torch.stepping.first_runs import FirstRuns

        running = self._recorder.made(code)
        if self._first_runs is None:
            self._first_runs = FirstRuns(self.directory)
        if running is None or not self._first_runs.is_new(running):
            return
        places: list[str] = []
        with self._problems.contained(f"finding the files that {running.compile.id} runs in"), paused():
            entries.read_new_entries(self._recorder)
            places = self._first_runs.begin(running)
        if places:
            self._write_so_far()
            # A debugger that starts in there is right before the code that is about to run.
            tell(places)

    def on_earlier_run(self, code: types.CodeType) -> None:
        """Count a call that code from before the context serves."""
        place = code.co_name, code.co_filename, code.co_firstlineno
        self.session.earlier[place] = self.session.earlier.get(place, 0) + 1
        if self._log is not None and self.session.earlier[place] == 1:
            self._log.session_changed()

    def on_skip(self, name: str, reason: str, filename: str) -> None:
        """Record that Dynamo skipped the function `name` in `filename`, with torch's `reason`."""
        if os.getpid() == self._process and self._selection.fits_names(name, filename):
            function = self._recorder.skipped(name, reason, filename)
            code = self._recorder.code_of(function) if function is not None else None
            if function is not None and code is not None:
                self._eager_calls.watch(code, function)
            if self._log is not None:
                self._log.session_changed()

    def on_bypass(self, kind: str, *facts: Any) -> None:
        """Record what compiled code did not serve."""
        if os.getpid() == self._process:
            self._beside.on_event(kind, *facts)
            if self._log is not None:
                self._log.session_changed()

    def on_error(self, where: str, error: BaseException) -> None:
        """Record an error inside depyf."""
        self._problems.add(where, error)

    def current_graph(self) -> str:
        """Return the name of the graph that is being compiled; `__compiled_fn_0` outside a compile."""
        current = seams.current_compile()
        names = self._recorder.graph_names(current[0]) if current is not None else ()
        return names[-1] if names else f"__compiled_fn_{LOOSE}"


def current_context() -> DumpContext | None:
    """Return the context that this thread entered last, else the one that any thread entered last, or None."""
    context = ACTIVE.current()
    return context if isinstance(context, DumpContext) else None


class prepare_debug(contextlib.ContextDecorator):  # noqa: N801 - a context manager is named like a function
    """Write everything that torch compiles inside the context to `dump_src_dir`.

    Use it with `with`, as a decorator, or enter and leave it by hand; several times, nested, and from threads. Each
    process of a `torchrun` job writes to its own folder `rank_<n>` in the directory, unless the path contains its rank;
    `index.md` beside the folders shows where the ranks differ. Any other process that writes to the directory while the
    first one lives gets a folder `process_<n>` there, and `processes.md` describes them all. In a terminal, leaving
    prints a few lines about the run to stderr, unless `DEPYF_SUMMARY=0` is set. Leaving never raises. An error inside
    depyf becomes a warning and a file `depyf_problems.txt`, never an exception.

    Args:
        dump_src_dir: the directory for the files; it is created with its parents on entry.
        clean_wild_fx_code: leave out the graphs of attempts that Dynamo abandoned and restarted.
        log_bytecode: write bytecode listings beside each transformed function: before Dynamo, after, and recompiled.
        keep_index: write the index during the run too, with at most 2 % of the time, so that a killed program leaves an
            index. That index says that the run has not ended.
        only: a shell pattern; functions whose name, qualified name or file does not match are left out.
        kernels: write Inductor's modules.
        install: run the code of the files instead of Dynamo's at once, and not only in `debug`. It computes the same,
            but tracebacks, warnings and log records then name the files instead of the user's lines.
        before_run: receives the places to break at, before compiled code runs for the first time, in the thread that
            runs it. From then on the callees of that code run from the files of the dump, as in `debug`. It must not
            raise. It is never called if torch (before 2.12) does not report which compiled code runs.
        keep_trace: keep torch's own trace in the folder `trace` of the dump, for other tools.
        stack_after: seconds after which a compile is slow. Its Python stack is written to `slow_compile.txt` with
            Python's `faulthandler.dump_traceback_later`, which the program itself then cannot use. 0 for never.
        all_files: keep every file of a large dump. By default, a dump of more than 80 files or 2 MB keeps the files
            that are seldom opened in an archive, `more.tar.xz`: metadata, AOTAutograd's wrappers, graphs between the
            usual ones, and copies of installed files. `index.md` lists them, and depyf reads them from there.

    Raises:
        DumpDirectoryError: on entry, before anything is compiled: the directory cannot be written.
    """

    def __init__(
        self,
        dump_src_dir: str | os.PathLike[str],
        clean_wild_fx_code: bool = True,
        log_bytecode: bool = False,
        *,
        keep_index: bool = False,
        only: str = "",
        kernels: bool = True,
        install: bool = False,
        before_run: Callable[[list[str]], None] | None = None,
        keep_trace: bool = False,
        stack_after: float = 0.0,
        all_files: bool = False,
    ) -> None:
        self._directory = dump_src_dir
        first = clean_wild_fx_code, log_bytecode, keep_index, only, kernels
        self._options = DumpOptions(*first, install, before_run, keep_trace, stack_after, all_files)
        self._entered: list[DumpContext] = []

    @classmethod
    def with_options(cls, dump_src_dir: str | os.PathLike[str], options: DumpOptions) -> prepare_debug:
        """Return a context with these options."""
        context = cls(dump_src_dir)
        context._options = options
        return context

    def __enter__(self) -> Session:
        tell_once(unknown_version())
        rank_folder, whole = rank_directory(self._directory)
        claimed = CLAIMS.own_directory(rank_folder)
        context = DumpContext(claimed, Path(os.path.abspath(rank_folder)), whole, self._options)
        context.enter()
        self._entered.append(context)
        return context.session

    def __exit__(self, *error: object) -> None:
        if self._entered:
            self._entered.pop().leave()
