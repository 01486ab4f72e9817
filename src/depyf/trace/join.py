"""Join the records of torch's structured trace by compile id into the model of a run, and write each artefact.

A running process and a trace file use the same join. `depyf.torch` adds the facts that only a running process knows;
`depyf.trace.log` adds the parts for files.
"""

from __future__ import annotations

import itertools
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Generic, TypeVar

from depyf.bytecode.records import dataclass
from depyf.model.artifacts.graph_source import graph_file, user_lines
from depyf.model.artifacts.wrapper_source import artefact_title, python_file
from depyf.model.names import compiled_fn_number, file_part, resumed_function, without_random_part
from depyf.model.reproducible import reproducible
from depyf.model.run import (
    Artefact,
    Compile,
    CompileId,
    Dialect,
    FirstCall,
    Function,
    Recompile,
    Resume,
    Session,
    ShapeFact,
)
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_generated, is_library_file
from depyf.trace import cuda_graphs, records, refusals, stages
from depyf.trace.caches import cache_event, has_read_no_sizes
from depyf.trace.directory import LOOSE, Files, readable_json

COUNT = itertools.count()
"""Numbers contexts and resets of torch's counters, so that no two functions have the same key."""


@dataclass(slots=True, eq=False)
class Running:
    """A compile with the state of the join, which is not part of the model.

    nameless: artefacts that came before the name of their graph was known.
    """

    compile: Compile
    function: Function
    nameless: list[Artefact] = field(default_factory=list)
    finished: bool = False
    has_triton: bool = False
    """Whether Inductor wrote a Triton kernel for it."""
    is_reset: bool = False
    """Whether Dynamo was reset after it, so that another compile may have the same id."""


TRITON_KERNEL = "async_compile.triton("
"""The start of a Triton kernel in Inductor's module."""
OF_AUTOGRAD = ("compiled_autograd_graph", "compiled_autograd_graph_pre_reordering")
"""The graphs that compiled autograd makes before Dynamo compiles them."""
AUTOGRAD = "compiled_autograd"
"""The name of the function that compiled autograd makes of such a graph."""
BEFORE_DYNAMO = frozenset(stages.STAGE_OF_NAME[name].word for name in OF_AUTOGRAD)

R = TypeVar("R", bound=Running)


class Join(ABC, Generic[R]):
    """The state of one run. Every method may be called from any thread."""

    def __init__(
        self,
        session: Session,
        dump: Files,
        make: Callable[[Compile, Function], R],
        *,
        keep_restarted: bool,
        resume_prefix: str,
        kernels: bool = True,
        not_kept: frozenset[str] = frozenset(),
    ) -> None:
        """Begin to join; `make` creates the state of a compile.

        Records whose kind is in `not_kept` only mark a point in time; their payload is no artefact.
        """
        self.session = session
        self.dump = dump
        self.lock = threading.RLock()
        self._make = make
        self._keep_restarted = keep_restarted
        self._resume_prefix = resume_prefix
        self._kernels = kernels
        self._not_kept = not_kept
        self._functions: dict[str, Function] = {}
        self._running: dict[CompileId, R] = {}
        self._all: list[R] = []
        self._of_function: dict[str, list[R]] = {}
        self._reasons: dict[CompileId, Recompile] = {}
        self._of_autograd: dict[int, list[tuple[str, Mapping[str, Any], str]]] = {}
        self._count = next(COUNT)
        self._told = {compiled.id for _, compiled in session.compiles()}
        self._counted = max((compile_id.count for compile_id in self._told), default=1)

    def running(self) -> list[R]:
        """Return every compile of the context, in order."""
        with self.lock:
            return list(self._all)

    def compiles_of(self, function: Function) -> list[R]:
        """Return the compiles of a function, in order."""
        with self.lock:
            return list(self._of_function.get(function.key, ()))

    def record(self, metadata: Mapping[str, Any], payload: str | None) -> R | None:
        """Process one record of torch's structured trace; return the compile that it belongs to, or None."""
        kind, details = records.record_kind(metadata)
        if self.leaves_out(kind):
            return None
        compile_id = records.record_compile_id(metadata)
        with self.lock:
            if compile_id is None:
                self._of_no_frame(metadata.get("compiled_autograd_id"), kind, details, payload)
            elif kind == stages.FRAME_STARTS:
                self._start(compile_id, details)
            elif kind == stages.RECOMPILE_REASONS:
                self._reasons[compile_id] = refusals.recompile(payload if payload is not None else "")
            else:
                attempt = int(metadata.get("attempt") or 0)
                self._record_of(self._attempt(compile_id, attempt), kind, details, payload, attempt)
            running = self._running.get(compile_id) if compile_id is not None else None
            if running is not None and kind in stages.PHASES and not running.finished:
                running.compile.phase, running.compile.phase_began = stages.PHASES[kind], round(self.now(), 6)
            return running

    def name_graph(self, compile_id: CompileId, attempt: int, name: str) -> None:
        """Record that the code of this compile calls the next captured graph `name`.

        Args:
            compile_id: the compile.
            attempt: how often Dynamo had restarted it before.
            name: the global name of the graph.
        """
        with self.lock:
            running = self._attempt(compile_id, attempt)
            names = running.compile.compiled_fns
            short = without_random_part(name)
            if short not in names:
                running.compile.compiled_fns = (*names, short)
            self.write_nameless(running)

    def graph_names(self, compile_id: CompileId) -> tuple[str, ...]:
        """Return the names of a compile's graphs that are known so far."""
        with self.lock:
            running = self._running.get(compile_id)
            return running.compile.compiled_fns if running is not None else ()

    def write_nameless(self, running: R) -> None:
        """Write the artefacts that waited for the name of their graph."""
        waiting, running.nameless = running.nameless, []
        for artefact in waiting:
            self._write(artefact, running, self._compiled_fn(running))

    def write_wrappers(self, running: R) -> None:
        """Write the generated wrappers of a compile again, with the current meaning of their names."""
        with self.lock:
            for artefact in running.compile.artefacts:
                if artefact.wrappers and artefact.text:
                    number = compiled_fn_number(artefact.file.partition(".")[0])
                    self.dump.write(artefact.file, python_file(artefact, running.compile, number))

    def end_of_context(self) -> None:
        """Write the artefacts that still wait for a name (graphs of compiles without code) or for a kernel's file."""
        with self.lock:
            self.relate_rests()
            for running in self._all:
                self.write_nameless(running)
                self.write_wrappers(running)

    def relate_rests(self) -> None:
        """Attach each resume function without known code to the function of the same name that it belongs to.

        A graph of compiled autograd that Dynamo did not compile belongs to no frame.
        """
        while self._of_autograd:
            for record in self._of_autograd.popitem()[1]:
                self._loose(*record)
        roots: dict[tuple[str, str], Function] = {}
        broke: dict[tuple[str, int, int], dict[str, Compile]] = {}
        for function, compiled in self.session.compiles():
            rest = resumed_function(compiled.name)
            if rest is None:
                roots[compiled.name, compiled.filename] = function
            elif not function.is_resume and (root := roots.get((rest[0], compiled.filename))) is not None:
                callers_there = list(broke.get((compiled.filename, rest[1], compiled.id.count), {}).values())
                # For the others, the stack of the break contains a line of the function, which called them.
                same_function = [
                    caller
                    for caller in callers_there
                    if (resumed_function(caller.name) or (caller.name,))[0] == rest[0]
                ]
                _relate(function, root, rest[1], (same_function or callers_there or root.compiles)[-1])
            for graph_break in compiled.breaks:
                for line in (*graph_break.stack, *((graph_break.where,) if graph_break.where is not None else ())):
                    # The first compile that breaks there creates the resume function.
                    callers = broke.setdefault((line.filename, line.line, compiled.id.count), {})
                    callers.setdefault(function.key, compiled)

    def forget_texts(self) -> None:
        """Drop the texts that are in files. The session is kept for the next context in the same directory."""
        with self.lock:
            for artefact in (
                *self.session.loose,
                *(artefact for running in self._all for artefact in running.compile.artefacts),
            ):
                if artefact.file:
                    artefact.text = ""

    def _start(self, compile_id: CompileId, details: Mapping[str, Any]) -> None:
        running = self._running.get(compile_id)
        if running is not None and running.finished:
            # torch._dynamo.reset() restarts the numbering.
            self._count = next(COUNT)
            for running_compile in self._running.values():
                running_compile.is_reset = True
            self._running.clear()
            running = None
        stack, code = self.place_of_start(details)
        if running is None:
            running = self._begin(compile_id, stack, code)
        running.compile.user_stack = stack[:-1]
        # A finding may name the call that led to the compile.
        calls = [frame.filename for frame in stack[:-1]]
        for file in [file for file in calls if not (is_library_file(file) or is_generated(file))][-1:]:
            self.keep_source(file)

    def _begin(self, compile_id: CompileId, stack: tuple[UserLine, ...], code: object = None) -> R:
        here = stack[-1] if stack else UserLine("", 0, "", "?")
        function = self._function(compile_id, here, code)
        own_id = self._own_id(compile_id, begins=bool(stack))
        compiled = Compile(own_id, here.function, here.filename, here.line, order=next(COUNT))
        compiled.began = round(self.now(), 6)
        if (
            function.compiles
            and compile_id not in self._reasons
            and all(earlier.failure for earlier in function.compiles)
        ):
            compiled.trigger = FirstCall(str(function.compiles[-1].id))
        elif compile_id in self._reasons or compile_id.compile > 0:
            # Before 2.6 torch does not record the reasons.
            again = function.compiles if self._counted > 1 else ()
            ids = {str(earlier.id.of_torch): str(earlier.id) for earlier in again if earlier.id.count > 1}
            trigger = self._reasons.pop(compile_id, Recompile(()))
            entries = (
                tuple(replace(entry, entry=ids.get(entry.entry, entry.entry)) for entry in trigger.entries)
                if ids
                else None
            )
            compiled.trigger = trigger if entries is None else replace(trigger, entries=entries)
        function.compiles.append(compiled)
        running = self._make(compiled, function)
        compiled.artefacts += [
            stages.artefact_of(*record, 0) for record in self._of_autograd.pop(compile_id.autograd, ())
        ]
        running.nameless += compiled.artefacts
        self._running[compile_id] = running
        self._all.append(running)
        self._of_function.setdefault(function.key, []).append(running)
        return running

    def _own_id(self, compile_id: CompileId, *, begins: bool) -> CompileId:
        """Return the id of a compile. It is unique, except for later parts of the same compile."""
        counted_id = replace(compile_id, count=self._counted)
        if begins and counted_id in self._told:
            self._counted += 1
            counted_id = replace(compile_id, count=self._counted)
        self._told.add(counted_id)
        return counted_id

    def _function(self, compile_id: CompileId, here: UserLine, code: object) -> Function:
        key = f"{self._count}:{compile_id.autograd}:{compile_id.frame}"
        function = self._functions.get(key)
        if function is None and code is not None:
            function = self.known_before(code)
        if function is None:
            source, name = self.source_of(here), here.function
            self.keep_source(here.filename)
            if compile_id.autograd >= 0 and is_generated(here.filename):
                name = AUTOGRAD  # torch's own name for the function of a graph, `forward`, is not helpful.
            function = Function(key, name, here.filename, here.line, source, root=key)
            if name != here.function:
                function.qualname = name
            if not here.function.startswith(self._resume_prefix):
                part = f"full_code_for_{file_part(name)}"
                function.number = self.dump.numbers.next(part)
                function.file = f"{part}_{function.number}.py"
            self.session.functions[key] = function
        self._functions[key] = function
        return function

    def _attempt(self, compile_id: CompileId, attempt: int) -> R:
        """Return a compile in its current attempt. Graphs of the previous attempt belong to discarded code."""
        running = self._known(compile_id)
        if attempt < running.compile.attempts:
            return running
        running.compile.attempts = attempt + 1
        running.compile.effects.clear()
        running.compile.shapes.clear()
        running.compile.repeats = ()
        if self._keep_restarted:
            self.write_nameless(running)
            return running
        for artefact in running.compile.artefacts:
            if artefact.file and artefact.stage not in BEFORE_DYNAMO:
                self.dump.remove(artefact.file)
        for artefacts in (running.compile.artefacts, running.nameless):
            artefacts[:] = [artefact for artefact in artefacts if artefact.stage in BEFORE_DYNAMO]
        running.compile.compiled_fns = ()
        return running

    def _known(self, compile_id: CompileId) -> R:
        """Return a compile. A compile that began before the context begins here, because only its rest is recorded."""
        running = self._running.get(compile_id)
        return running if running is not None else self._begin(compile_id, ())

    def _record_of(self, running: R, kind: str, details: Mapping[str, Any], payload: str | None, attempt: int) -> None:
        cuda_graphs.note(running.compile, kind, details, payload)
        from depyf.trace.kinds import Taken, parsers_of  # only a compile needs it
        for parse in parsers_of(kind):
            parse(Taken(running.compile, details, payload, self.line_at))
        if kind == stages.BREAK_REASON:
            self._note_break(running, payload or "", attempt)
        elif kind == stages.FRAME_ENDS:
            self._finish(running, details)
        elif kind == stages.BACKWARD_ENDS:
            running.compile.seconds.update(records.backward_seconds(details, has_triton=running.has_triton))
        elif kind in stages.SHAPE_FACTS:
            running.compile.shapes.append(self._shape_fact(kind, details))
        elif payload is not None and kind not in self._not_kept:
            artefact = stages.artefact_of(kind, details, payload, attempt)
            if kind in stages.CACHES or kind in stages.PGO_WRITTEN and has_read_no_sizes(running.compile):
                running.compile.caches.append(cache_event(kind, artefact))
            if artefact.dialect is Dialect.KERNEL and TRITON_KERNEL in payload:
                running.has_triton = True
            if self._kernels or artefact.dialect is not Dialect.KERNEL:
                self._add(running, artefact)

    def _note_break(self, running: R, payload: str, attempt: int) -> None:
        if not records.is_break(payload):
            return
        graph_break = records.graph_break(reproducible(payload), attempt, self.line_at)
        # A line in a file of the dump stands for a line of the user's, which the stack does not contain.
        graph_break = replace(
            graph_break, stack=tuple(line for line in graph_break.stack if not self._is_of_dump(line))
        )
        if all(
            (graph_break.reason, graph_break.where) != (known.reason, known.where) for known in running.compile.breaks
        ):
            running.compile.breaks.append(graph_break)

    def _is_of_dump(self, line: UserLine) -> bool:
        return line.filename.startswith(os.path.join(self.dump.directory, ""))

    def _finish(self, running: R, metrics: Mapping[str, Any]) -> None:
        compiled = running.compile
        compiled.seconds.update(records.seconds(metrics, has_triton=running.has_triton))
        failure = records.failure(metrics, self.line_at)
        compiled.failure = replace(failure, phase=compiled.phase) if failure is not None else None
        compiled.phase, compiled.phase_began = "", None
        compiled.op_count, compiled.guard_count = metrics.get("graph_op_count"), metrics.get("guard_count")
        running.finished = True

    def _shape_fact(self, kind: str, details: Mapping[str, Any]) -> ShapeFact:
        stack = details.get("user_stack") or details.get("stack")
        return records.shape_fact(kind, details, records.user_stack(stack, self.strings(), self.line_at))

    def _of_no_frame(self, autograd: object, kind: str, details: Mapping[str, Any], payload: str | None) -> None:
        """Process a record without a frame. A graph of compiled autograd belongs to the next compile of Dynamo's."""
        if payload is not None and isinstance(autograd, int) and kind in OF_AUTOGRAD:
            self._of_autograd.setdefault(autograd, []).append((kind, details, payload))
        else:
            self._loose(kind, details, payload)

    def _loose(self, kind: str, details: Mapping[str, Any], payload: str | None) -> None:
        if kind in stages.SHAPE_FACTS:
            self.session.shapes.append(self._shape_fact(kind, details))
        if payload is None:
            return
        artefact = stages.artefact_of(kind, details, payload, 0)
        saved = self._saved(payload) if kind == stages.SAVED else None
        if saved is not None:
            self._add(saved, artefact)
            return
        self.session.loose.append(artefact)
        self._write(artefact, None, None)

    def _saved(self, payload: str) -> R | None:
        """Return the last compile of the functions in a cache that the program saves."""
        held = {(saved.get("fn_name"), saved.get("fn_first_lineno")) for saved in records.saved_functions(payload)}
        saving = (
            running for running in reversed(self._all) if (running.compile.name, running.compile.first_line) in held
        )
        return next(saving, None)

    def _add(self, running: R, artefact: Artefact) -> None:
        running.compile.artefacts.append(artefact)
        if artefact.stage == stages.CAPTURED:
            from depyf.model.graph_facts import add_graph  # only a compile needs it
            add_graph(running.compile, artefact.text)
        if running.compile.compiled_fns:
            self._write(artefact, running, self._compiled_fn(running))
        else:
            running.nameless.append(artefact)

    def _compiled_fn(self, running: R) -> int | None:
        names = running.compile.compiled_fns
        return compiled_fn_number(names[-1]) if names else None

    def _write(self, artefact: Artefact, running: R | None, compiled_fn: int | None) -> None:
        text = self.text_of_file(artefact, running, compiled_fn)
        name = self.dump.artefact_name(artefact, self.owner(artefact, running, compiled_fn), text)
        if self.dump.write(name, text if text.endswith("\n") else text + "\n"):
            artefact.file = name

    # Methods that a running process and a file implement differently.

    @abstractmethod
    def leaves_out(self, kind: str) -> bool:
        """Return whether a kind of record contains nothing to join."""

    @abstractmethod
    def place_of_start(self, details: Mapping[str, Any]) -> tuple[tuple[UserLine, ...], object]:
        """Return the stack of a starting compile, the function itself last, and an identity of its code, if any."""

    @abstractmethod
    def strings(self) -> Mapping[int, str]:
        """Return the file names that structured stacks refer to by number."""

    @abstractmethod
    def now(self) -> float:
        """Return the seconds from the start of the run to the current record."""

    @abstractmethod
    def line_at(self, filename: str, line: int, function: str = "") -> UserLine:
        """Return the line `line` of `filename`, in `function` if that is known, which a record mentions."""

    @abstractmethod
    def source_of(self, here: UserLine) -> str:
        """Return the text of the function that begins at a line, as far as it is known so far."""

    @abstractmethod
    def keep_source(self, filename: str) -> None:
        """Record that a file of the user's contains compiled code."""

    @abstractmethod
    def known_before(self, code: object) -> Function | None:
        """Return the function for a code object in an earlier run in this directory, or None."""

    def text_of_file(self, artefact: Artefact, running: R | None, compiled_fn: int | None) -> str:
        """Return the text to write for an artefact of the compile `running`, for its graph's number `compiled_fn`."""
        text, compiled = artefact.text, running.compile if running is not None else None
        if artefact.dialect in (Dialect.GRAPH, Dialect.TEXT, Dialect.JSON, Dialect.CPP):
            text = self.dump.without_directory(reproducible(text))
        if artefact.dialect is Dialect.GRAPH:
            for filename in dict.fromkeys(line.filename for line in user_lines(text)):
                self.keep_source(filename)
            return graph_file(text, [artefact_title(artefact, compiled, compiled_fn)]).text
        if artefact.dialect is Dialect.PYTHON:
            return python_file(artefact, compiled, compiled_fn)
        return readable_json(text) if artefact.dialect is Dialect.JSON else text

    def owner(self, artefact: Artefact, running: R | None, compiled_fn: int | None) -> str:
        """Return the prefix of an `artefact`'s file: that of its graph `compiled_fn`, or of its compile `running`."""
        if compiled_fn is None and running is not None and artefact.dialect in (Dialect.TEXT, Dialect.JSON):
            return f"compile_{running.compile.id.frame_word}_{running.compile.id.compile}"
        return f"__compiled_fn_{LOOSE if compiled_fn is None else compiled_fn}"


def _relate(function: Function, root: Function, line: int, caller: Compile) -> None:
    function.root = root.key
    function.break_line = function.resumes_at = line
    first = function.compiles[0]
    if isinstance(first.trigger, FirstCall):
        first.trigger = Resume(caller.id)
