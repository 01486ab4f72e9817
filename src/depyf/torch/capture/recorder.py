"""Joins what torch tells, record by record, into the model of the run, and writes each artefact as it comes."""

from __future__ import annotations

import itertools
import json
import os
import re
import threading
import time
import types
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from depyf.report.graph_source import graph_file, user_lines
from depyf.report.model import (
    Artefact,
    Compile,
    CompileId,
    Dialect,
    Function,
    Recompile,
    Session,
    Unavailable,
    UserLine,
)
from depyf.report.names import compiled_fn_number, file_part, without_random_part
from depyf.report.reproducible import reproducible
from depyf.report.user_source import function_source, short_path
from depyf.report.wrapper_source import wrapper_comments
from depyf.torch.adapters import caller, seams, stages
from depyf.torch.capture import records
from depyf.torch.capture.sources import keep_source
from depyf.torch.capture.weak_codes import WeakCodes
from depyf.torch.dump.directory import LOOSE, Files
from depyf.torch.guards.tree import Tree

_AOT_ID = re.compile(r"^# AOT ID: \['\d+_(\w+)'\]", re.MULTILINE)
"""Inductor's note of what a module of its is: `forward`, `backward`, or `inference`."""

_COUNT = itertools.count()
"""Numbers what begins: a context or a reset of torch's own counters, so that no two functions have one key."""


@dataclass(slots=True, eq=False)
class Running:
    """A compile with what joins its parts, which is no part of the model.

    `code` is a copy of the user's code object and `live_code` refers to the code itself: torch's cache hangs on it, and
    with the cache the user's objects. `nameless` holds artefacts that came before the name of the graph they belong
    to was known.
    """

    compile: Compile
    function: Function
    code: types.CodeType | None = None
    live_code: weakref.ref[types.CodeType] | None = None
    guards: Tree | None = None
    placeholders: Mapping[str, object] = field(default_factory=dict)
    nameless: list[Artefact] = field(default_factory=list)
    finished: bool = False
    entry_is_read: bool = False
    is_reset: bool = False
    """Whether Dynamo was reset since, so that another compile may have torch's id of this one."""


@dataclass(frozen=True, slots=True)
class CallSite:
    """Where a resume function is called from: the compile whose code calls it, and its global name there.

    The code of other compiles may know the same function by `other_names`.
    """

    caller: Running
    name: str
    other_names: list[str] = field(default_factory=list)


class Recorder:
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
        """Begin to record; `known` gives the function of code that an earlier context in the directory told of."""
        self.session = session
        self.dump = dump
        self.lock = threading.RLock()
        self.call_sites: WeakCodes[CallSite] = WeakCodes()
        self._by_code: WeakCodes[Running] = WeakCodes()
        self._keep_restarted = keep_restarted
        self._kernels = kernels
        self._known_before = known
        self._functions: dict[str, Function] = {}
        self._running: dict[CompileId, Running] = {}
        self._all: list[Running] = []
        self._of_function: dict[str, list[Running]] = {}
        self._reasons: dict[CompileId, Recompile] = {}
        self._count = next(_COUNT)
        self._told = {each.id for _, each in session.compiles()}
        self._counted = max((each.count for each in self._told), default=1)

    def running(self) -> list[Running]:
        """Return every compile of the context, in order."""
        with self.lock:
            return list(self._all)

    def compiles_of(self, function: Function) -> list[Running]:
        """Return the compiles of a function, in order."""
        with self.lock:
            return list(self._of_function.get(function.key, ()))

    def begun(self, compile_id: CompileId, code: types.CodeType) -> Running:
        """Return a compile; one whose first record was not seen begins here, with the names of `code`."""
        with self.lock:
            running = self._running.get(compile_id)
            if running is None:
                here = UserLine(code.co_filename, code.co_firstlineno, "", code.co_name)
                running = self._begin(compile_id, (here,), code)
            return running

    def record(self, metadata: Mapping[str, Any], payload: str | None) -> Running | None:
        """Take in one record of torch's structured trace; return the compile that it belongs to, if any."""
        kind, details = records.record_kind(metadata)
        if kind in stages.UNINTERESTING or kind == stages.INTERNED_STRING or kind.endswith(stages.BYTECODE_SUFFIXES):
            return None
        compile_id = records.record_compile_id(metadata)
        with self.lock:
            if compile_id is None:
                self._loose(kind, details, payload)
            elif kind == stages.FRAME_STARTS:
                self._start(compile_id, details)
            elif kind == stages.RECOMPILE_REASONS:
                self._reasons[compile_id] = records.recompile(payload or "")
            else:
                attempt = int(metadata.get("attempt") or 0)
                self._record_of(self._attempt(compile_id, attempt), kind, details, payload, attempt)
            return self._running.get(compile_id) if compile_id is not None else None

    def name_graph(self, compile_id: CompileId, attempt: int, name: str) -> None:
        """Note that the graph captured next is called `name` by the code of this compile."""
        with self.lock:
            running = self._attempt(compile_id, attempt)
            names = running.compile.compiled_fns
            short = without_random_part(name)
            if short not in names:
                running.compile.compiled_fns = (*names, short)
            self.write_nameless(running)

    def await_runs(self, code: types.CodeType) -> None:
        """Count the runs of `code`, which the compile that is running has made."""
        current = seams.current_compile()
        running = self._running.get(current[0]) if current is not None else None
        if running is not None:
            running.compile.hits = 0
            self._by_code[code] = running

    def count_run(self, code: types.CodeType) -> bool:
        """Note that compiled code is about to run; return whether it was made in this context."""
        running = self.made(code)
        if running is None:
            return False
        running.compile.hits = (running.compile.hits or 0) + 1
        return True

    def made(self, code: types.CodeType) -> Running | None:
        """Return the compile that made `code`, or None where it was made before."""
        return self._by_code.get(code)

    def skipped(self, name: str, reason: str, filename: str) -> None:
        """Note that Dynamo left a frame as it is, and so why there is no code where it had begun to compile it."""
        with self.lock:
            key = name, filename, reason
            self.session.skipped[key] = self.session.skipped.get(key, 0) + 1
            last = self._all[-1].compile if self._all else None
            if last is not None and (last.name, last.filename) == (name, filename):
                if isinstance(last.transformed, Unavailable) and last.failure is None:
                    last.transformed = Unavailable(reason)

    def graph_names(self, compile_id: CompileId) -> tuple[str, ...]:
        """Return the names of the graphs of a compile that are known by now."""
        with self.lock:
            running = self._running.get(compile_id)
            return running.compile.compiled_fns if running is not None else ()

    def client_graph(self, compile_id: CompileId | None, name: str, text: str) -> None:
        """Dump a graph that a client of torch's formatter asks for."""
        with self.lock:
            artefact = Artefact(name, Dialect.GRAPH, text)
            if compile_id is None or compile_id not in self._running:
                self.session.loose.append(artefact)
                self._write(artefact, None, None)
            else:
                self._add(self._running[compile_id], artefact)

    def write_nameless(self, running: Running) -> None:
        """Write the artefacts that waited for the name of their graph."""
        waiting, running.nameless = running.nameless, []
        for artefact in waiting:
            self._write(artefact, running, self._compiled_fn(running))

    def write_wrappers(self, running: Running) -> None:
        """Write the generated wrappers of a compile again, with what their names stand for by now."""
        with self.lock:
            for artefact in running.compile.artefacts:
                if artefact.wrappers and artefact.text:
                    number = compiled_fn_number(artefact.file.partition(".")[0])
                    self.dump.write(artefact.file, _python_file(artefact, running, number))

    def end_of_context(self) -> None:
        """Write what still waits: for a name, as graphs of compiles that never made code, or for a kernel's file."""
        with self.lock:
            for running in self._all:
                self.write_nameless(running)
                self.write_wrappers(running)

    def forget_texts(self) -> None:
        """Drop what stands in files; the session is kept, for the next context in the same directory."""
        with self.lock:
            for artefact in (*self.session.loose, *(each for one in self._all for each in one.compile.artefacts)):
                if artefact.file:
                    artefact.text = ""

    def _start(self, compile_id: CompileId, details: Mapping[str, Any]) -> None:
        running = self._running.get(compile_id)
        if running is not None and running.finished:
            # torch._dynamo.reset() starts counting anew.
            self._count = next(_COUNT)
            for each in self._running.values():
                each.is_reset = True
            self._running.clear()
            running = None
        strings = seams.interned_strings()
        frames = records.user_stack(details.get("stack"), strings if isinstance(strings, dict) else {})
        not_users = (*seams.OF_DYNAMO, os.path.join(self.dump.directory, ""))
        told = tuple(frame for frame in frames if not frame.filename.startswith(not_users))
        code = caller.code_in_progress()
        stack = records.with_last_frames(told, caller.place_of_call(not_users), code)
        if running is None:
            running = self._begin(compile_id, stack, code)
        running.compile.user_stack = stack[:-1]

    def _begin(self, compile_id: CompileId, stack: tuple[UserLine, ...], code: types.CodeType | None = None) -> Running:
        here = stack[-1] if stack else UserLine("", 0, "", "?")
        function = self._function(compile_id, here, code)
        own_id = self._own_id(compile_id, begins=bool(stack))
        made = Compile(own_id, here.function, here.filename, here.line, order=next(_COUNT))
        made.began = round(time.monotonic() - self.session.entered, 6)
        if compile_id in self._reasons or compile_id.compile > 0:
            # Before 2.6 torch does not tell the reasons.
            ids = {str(each.id.of_torch): str(each.id) for each in function.compiles if each.id.count > 1}
            told = self._reasons.pop(compile_id, Recompile(()))
            own = tuple(replace(each, entry=ids.get(each.entry, each.entry)) for each in told.refusals)
            made.trigger = replace(told, refusals=own)
        function.compiles.append(made)
        running = Running(made, function)
        self._running[compile_id] = running
        self._all.append(running)
        self._of_function.setdefault(function.key, []).append(running)
        return running

    def _own_id(self, compile_id: CompileId, *, begins: bool) -> CompileId:
        """Return the id of a compile, which no other has unless it is a part of that one that comes later."""
        own = replace(compile_id, count=self._counted)
        if begins and own in self._told:
            self._counted += 1
            own = replace(compile_id, count=self._counted)
        self._told.add(own)
        return own

    def _function(self, compile_id: CompileId, here: UserLine, code: types.CodeType | None) -> Function:
        key = f"{self._count}:{compile_id.autograd}:{compile_id.frame}"
        function = self._functions.get(key)
        if function is None and code is not None:
            function = self._known_before(code)
        if function is None:
            source = function_source(here.filename, here.line)
            keep_source(self.session, self.dump, here.filename)
            function = Function(key, here.function, here.filename, here.line, source, root=key)
            if not here.function.startswith(seams.RESUME_PREFIX):
                part = file_part(here.function)
                function.number = self.dump.numbers.next(f"full_code_for_{part}")
                function.file = f"full_code_for_{part}_{function.number}.py"
            self.session.functions[key] = function
        self._functions[key] = function
        return function

    def _attempt(self, compile_id: CompileId, attempt: int) -> Running:
        """Return a compile in its current attempt: graphs of the one before belong to code that was thrown away."""
        running = self._known(compile_id)
        if attempt < running.compile.attempts:
            return running
        running.compile.attempts = attempt + 1
        running.compile.effects.clear()
        if self._keep_restarted:
            self.write_nameless(running)
            return running
        for artefact in running.compile.artefacts:
            if artefact.file:
                self.dump.remove(artefact.file)
        running.compile.artefacts.clear()
        running.nameless.clear()
        running.compile.compiled_fns = ()
        return running

    def _known(self, compile_id: CompileId) -> Running:
        """Return a compile; one that began before the context, of which only the rest is seen, begins here."""
        running = self._running.get(compile_id)
        return running if running is not None else self._begin(compile_id, ())

    def _record_of(
        self, running: Running, kind: str, details: Mapping[str, Any], payload: str | None, attempt: int
    ) -> None:
        if kind == stages.BREAK_REASON:
            self._note_break(running, payload or "", attempt)
        elif kind == stages.FRAME_ENDS:
            self._finish(running, details)
        elif kind == stages.BACKWARD_ENDS:
            running.compile.seconds.update(records.backward_seconds(details))
        elif payload is not None and kind != stages.GUARD_TREE:
            # The guards are read from torch's own objects while it writes its text of them.
            if kind == stages.SIDE_EFFECTS:
                made = running.compile
                made.effects = records.side_effects(payload, made.effects, made.user_stack)
            artefact = _artefact(kind, details, payload, attempt)
            if self._kernels or artefact.dialect is not Dialect.KERNEL:
                self._add(running, artefact)

    def _note_break(self, running: Running, payload: str, attempt: int) -> None:
        found = records.graph_break(reproducible(payload), attempt)
        # What stands in a file of the dump is a line of the user's, which the stack does not know.
        found = replace(found, stack=tuple(each for each in found.stack if not self._is_of_dump(each)))
        if all((found.reason, found.where) != (known.reason, known.where) for known in running.compile.breaks):
            running.compile.breaks.append(found)

    def _is_of_dump(self, line: UserLine) -> bool:
        return line.filename.startswith(os.path.join(self.dump.directory, ""))

    def _finish(self, running: Running, metrics: Mapping[str, Any]) -> None:
        made = running.compile
        made.seconds.update(records.seconds(metrics))
        made.failure = records.failure(metrics)
        made.op_count = metrics.get("graph_op_count")
        made.guard_count = metrics.get("guard_count")
        running.finished = True

    def _loose(self, kind: str, details: Mapping[str, Any], payload: str | None) -> None:
        if payload is None:
            return
        artefact = _artefact(kind, details, payload, 0)
        self.session.loose.append(artefact)
        self._write(artefact, None, None)

    def _add(self, running: Running, artefact: Artefact) -> None:
        running.compile.artefacts.append(artefact)
        if running.compile.compiled_fns:
            self._write(artefact, running, self._compiled_fn(running))
        else:
            running.nameless.append(artefact)

    def _compiled_fn(self, running: Running) -> int | None:
        names = running.compile.compiled_fns
        return compiled_fn_number(names[-1]) if names else None

    def _write(self, artefact: Artefact, running: Running | None, compiled_fn: int | None) -> None:
        text = artefact.text
        if artefact.dialect in (Dialect.GRAPH, Dialect.TEXT, Dialect.JSON):
            text = self.dump.without_directory(reproducible(text))
        if artefact.dialect is Dialect.GRAPH:
            for filename in dict.fromkeys(line.filename for line in user_lines(text)):
                keep_source(self.session, self.dump, filename)
            text = graph_file(text, [artefact_title(artefact, running, compiled_fn)]).text
        elif artefact.dialect is Dialect.PYTHON:
            text = _python_file(artefact, running, compiled_fn)
        elif artefact.dialect is Dialect.JSON:
            text = _readable_json(text)
        name = self.dump.artefact_name(artefact, _owner(artefact, running, compiled_fn), text)
        if self.dump.write(name, text if text.endswith("\n") else text + "\n"):
            artefact.file = name


def _python_file(artefact: Artefact, running: Running | None, compiled_fn: int | None) -> str:
    beside = running.compile.artefacts if running is not None else ()
    head = [f"# {artefact_title(artefact, running, compiled_fn)}", *wrapper_comments(artefact, beside)]
    return "\n".join([*head, artefact.text.rstrip("\n"), ""])


def _owner(artefact: Artefact, running: Running | None, compiled_fn: int | None) -> str:
    """Return the word that begins the names of an artefact's files: what the artefact is of."""
    if compiled_fn is None and running is not None and artefact.dialect in (Dialect.TEXT, Dialect.JSON):
        return f"compile_{running.compile.id.frame}_{running.compile.id.compile}"
    return f"__compiled_fn_{LOOSE if compiled_fn is None else compiled_fn}"


def artefact_title(artefact: Artefact, running: Running | None, compiled_fn: int | None) -> str:
    """Return one line that says what an artefact is."""
    stage = artefact.stage.replace("_", " ")
    if running is None:
        return f"{stage}, made outside of any compiled frame"
    made = running.compile
    place = f"{made.name}, {short_path(made.filename)}:{made.first_line}"
    name = f" of __compiled_fn_{compiled_fn}" if compiled_fn is not None else ""
    return f"{stage}{name} in {place}, compile {made.id}"


def _artefact(kind: str, details: Mapping[str, Any], payload: str, attempt: int) -> Artefact:
    stage = stages.STAGE_OF_NAME.get(kind)
    origin = str(details.get("filename") or "")
    if stage is not None:
        part = _AOT_ID.search(payload) if stage.dialect is Dialect.KERNEL else None
        return Artefact(stage.word, stage.dialect, payload, part[1] if part else "", attempt=attempt, origin=origin)
    dialect = stages.dialect_of(payload, details.get("encoding"))
    return Artefact(kind, dialect, payload, attempt=attempt, origin=origin)


def _readable_json(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=1, sort_keys=True) + "\n"
    except ValueError:
        return text
