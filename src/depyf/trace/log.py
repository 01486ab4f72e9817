"""Join the records of one process in a trace file into the model of its run."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.model.artifacts.graph_source import graph_file, user_lines
from depyf.model.artifacts.wrapper_source import artefact_title, python_file
from depyf.model.graph_facts import add_graph
from depyf.model.names import file_part, resumed_function
from depyf.model.run import (
    Artefact,
    Compile,
    Dialect,
    Function,
    GraphBreak,
    Session,
    ShapeFact,
    SideEffect,
    Unavailable,
)
from depyf.model.status import UNTOLD
from depyf.model.user_line import UserLine
from depyf.model.user_source import function_in
from depyf.trace import cuda_graphs, records, stages
from depyf.trace.autotuning import Tuning
from depyf.trace.directory import Dump
from depyf.trace.events import RECORDING, Events
from depyf.trace.join import Join, Running
from depyf.trace.quotes import QUOTED, Quotes
from depyf.trace.reader import Record

RESUME_PREFIX = "torch_dynamo_resume_in_"
GRAPH = "graph_"
"""The prefix of the files of a graph. A trace does not contain the graph's name in the code."""
SOURCE = "source"
OF_TORCH = ("torch/_dynamo/", "torch/_utils_internal.py", "torch/_strobelight/", "/contextlib.py")
"""Parts of the names of files that occur between a call and its compile."""
_TORCH_VERSION = re.compile(r'"pytorch_version": "([^"\n]{1,80})"')

MOST_METRIC = 500
"""The longest metric that the model holds in full, in characters."""

NO_GUARDS = "a trace has torch's text of the guards, but no callable guards"
CUT_OFF = "the trace ends before this compile"


@dataclass(slots=True, eq=False)
class LogRunning(Running):
    """A compile of a trace: the number of its last captured graph, and the tuning events of the timeline."""

    graph: int | None = None
    tuning: Tuning = field(default_factory=Tuning)


class LogJoin(Join[LogRunning]):
    """Joins the records of one process. Texts are written to their files immediately and not kept."""

    def __init__(self, session: Session, dump: Dump) -> None:
        super().__init__(session, dump, LogRunning, keep_restarted=True, resume_prefix=RESUME_PREFIX)
        self.quotes = Quotes()
        self._strings: dict[int, str] = {}
        self._files: dict[str, None] = {}
        self._compiled: set[tuple[str, str]] = set()
        self._graphs = 0
        self._first: float | None = None
        self._last = 0.0
        self.last_record = ""
        self._last_text = ""
        self._reason: Artefact | None = None
        self._events = Events()

    def take(self, record: Record) -> None:
        """Process one record.

        Raises:
            ValueError, TypeError, KeyError, AttributeError: its content matches no release of torch.
        """
        self._first = record.seconds if self._first is None else self._first
        self._last = record.seconds
        kind, details = records.record_kind(record.metadata)
        if kind == stages.INTERNED_STRING:
            text, number = record.metadata["str"]
            self._strings[int(number)] = str(text)
            return
        payload = record.text
        if kind == stages.TIMELINE:
            self._note_event(payload or "")
            return
        self._note(kind, record.metadata, payload or "")
        self._attach(kind, details, payload, self.record(record.metadata, payload))

    def _note_event(self, payload: str) -> None:
        """Record a CUDA graph recording or tuning, often long after the compile."""
        event = self._events.take(payload)
        running = next(
            (candidate for key, candidate in self._running.items() if event and str(key) == event.compile), None
        )
        if event is None or running is None:
            return
        if event.name == RECORDING:
            cuda_graphs.note_recording(running.compile, event)
        else:
            running.tuning.note(event)

    def _attach(self, kind: str, details: Mapping[str, Any], payload: str | None, running: LogRunning | None) -> None:
        """Attach a record's additional information to its compile: reasons, and times."""
        if kind == stages.RECOMPILE_REASONS:
            # This record comes before its compile begins.
            self._reason = Artefact(kind, stages.dialect_of(payload or "", details.get("encoding")), payload or "")
        elif running is not None and kind == stages.FRAME_STARTS and self._reason is not None:
            self._add(running, self._reason)
            self._reason = None
        elif running is not None and kind == stages.BREAK_REASON:
            attempt = running.compile.attempts - 1
            self._add(running, Artefact(kind, Dialect.TEXT, payload or "", attempt=attempt))
            self._complete_callers(running, [graph_break.stack for graph_break in running.compile.breaks])
        elif running is not None and kind == stages.SIDE_EFFECTS:
            self._complete_callers(running, records.printed_stacks(payload or "", self.line_at))
        elif kind == stages.FRAME_ENDS:
            self._measured(running, kind, details)
        elif kind in (stages.BACKWARD_ENDS, "compilation_metrics_runtime") and running is not None:
            running.compile.metrics[kind] = _told(details)

    def _complete_callers(self, running: LogRunning, stacks: Iterable[tuple[UserLine, ...]]) -> None:
        """Add the last caller of a compile, which torch leaves out at its start, from stacks inside the compile."""
        compiled = running.compile
        if resumed_function(compiled.name) is not None:
            return  # The caller of a resume function is the function that it resumes.
        known = tuple(map(_place, compiled.user_stack))
        for stack in stacks:
            users = self._users(stack)
            positions = [
                at for at, line in enumerate(users) if records.is_inside((line,), (compiled.filename, compiled.name))
            ]
            # If compiled functions call each other, some lines are missing in printed stacks.
            if positions != [len(known) + 1] or self._is_compiled(users[len(known)]):
                continue
            if tuple(map(_place, users[: len(known)])) == known:
                compiled.user_stack = users[: len(known) + 1]
                return

    def _is_compiled(self, line: UserLine) -> bool:
        return (line.filename, line.function) in self._compiled

    def _users(self, stack: tuple[UserLine, ...]) -> tuple[UserLine, ...]:
        return tuple(line for line in stack if not any(part in line.filename for part in OF_TORCH))

    def _measured(self, running: LogRunning | None, kind: str, metrics: Mapping[str, Any]) -> None:
        """Keep torch's metrics of a compile, or of an export, which has no compile id."""
        text = json.dumps(metrics, indent=1)
        if running is None:
            self._loose(kind, {"encoding": "json"}, text)
            return
        running.compile.metrics.update(_told(metrics))
        self._add(running, Artefact(kind, Dialect.JSON, text))
        self._name(running, metrics)

    def _note(self, kind: str, metadata: Mapping[str, Any], payload: str) -> None:
        """Record additional information: quotes of source, and the subject of the record."""
        if self.leaves_out(kind):
            return
        compile_id = records.record_compile_id(metadata)
        self.last_record = kind if compile_id is None else f"{kind} of {compile_id}"
        if payload:
            self.quotes.read(payload)
        if kind == "torch_version" and (version := _TORCH_VERSION.search(payload)) is not None:
            self.session.torch_version = version[1]

    def _name(self, running: LogRunning, metrics: Mapping[str, Any]) -> None:
        """Name a function by the metrics of its compile if the trace has no stack for it; torch 2.4 has none."""
        function, compiled = running.function, running.compile
        name, filename, line = (metrics.get(key) for key in ("co_name", "co_filename", "co_firstlineno"))
        if not (isinstance(name, str) and isinstance(filename, str) and isinstance(line, int)):
            return
        if (compiled.name, compiled.filename, compiled.first_line) == (name, filename, line):
            return
        if compiled.filename:
            compiled.user_stack = (
                *compiled.user_stack,
                UserLine(compiled.filename, compiled.first_line, "", compiled.name),
            )
        compiled.name, compiled.filename, compiled.first_line = name, filename, line
        function.name, function.filename, function.first_line = name, filename, line
        self.keep_source(filename)

    def end(self) -> None:
        """Complete the model with facts that depend on the whole trace."""
        for running in self.running():
            self.write_nameless(running)
            compiled = running.compile
            compiled.guards = Unavailable(NO_GUARDS)
            if (tuning := running.tuning.artefact()) is not None:
                self._add(running, tuning)
            if compiled.shapes:
                self._add(running, Artefact("symbolic_shapes", Dialect.TEXT, "\n".join(map(_words, compiled.shapes))))
            if not running.finished:
                compiled.transformed = Unavailable(CUT_OFF)
            elif compiled.failure is None:
                compiled.transformed = Unavailable(UNTOLD)
        self.relate_rests()
        self._write_sources()
        for running in self.running():
            self._fill(running.compile)
        self.session.ended = True

    @property
    def seconds(self) -> float:
        """Return the time from the first record to the last."""
        return round(self._last - (self._first or 0.0), 6)

    def unfinished(self) -> list[Compile]:
        """Return the compiles that began and did not end."""
        return [running.compile for running in self.running() if not running.finished]

    def _write_sources(self) -> None:
        missing = []
        for filename in self._files:
            text, is_whole = self.quotes.source(filename)
            if not text:
                continue
            stem = file_part(os.path.basename(filename.replace("\\", "/")).removesuffix(".py"))
            count = self.dump.numbers.next(f"{SOURCE}/{stem}")
            name = f"{SOURCE}/{stem}.py" if count == 0 else f"{SOURCE}/{stem}.{count}.py"
            if self.dump.write(name, text):
                self.session.sources[filename] = name
            if not is_whole:
                missing.append(filename)
            lines = text.splitlines(keepends=True) if is_whole else []
            for function in self.session.functions.values():
                if function.filename == filename:
                    function.source = function_in(lines, function.first_line)
        for filename in missing:
            self.session.unavailable[f"source of {filename}"] = QUOTED

    def _fill(self, compiled: Compile) -> None:
        """Fill in the text of lines that other records quote."""
        compiled.user_stack = tuple(map(self._with_text, compiled.user_stack))
        compiled.breaks = [self._filled_break(graph_break) for graph_break in compiled.breaks]
        compiled.effects = [
            SideEffect(effect.source, tuple(map(self._with_text, effect.lines))) for effect in compiled.effects
        ]
        if compiled.failure is not None and compiled.failure.where is not None:
            where = self._with_text(compiled.failure.where)
            compiled.failure = replace(compiled.failure, where=where)

    def _filled_break(self, graph_break: GraphBreak) -> GraphBreak:
        where = self._with_text(graph_break.where) if graph_break.where is not None else None
        return replace(graph_break, where=where, stack=tuple(map(self._with_text, graph_break.stack)))

    def _with_text(self, line: UserLine) -> UserLine:
        text = line.text or self.quotes.lines.get(line.filename, {}).get(line.line, "")
        return replace(line, text=text)

    def _add(self, running: LogRunning, artefact: Artefact) -> None:
        if artefact.stage == stages.CAPTURED:
            add_graph(running.compile, artefact.text)
            self._graphs += 1
            running.graph = self._graphs
        running.compile.artefacts += self._written(artefact, running)

    def _written(self, artefact: Artefact, running: LogRunning | None) -> list[Artefact]:
        """Write an artefact, and also torch's own text if the file does not contain it."""
        artefacts = [artefact]
        self._write(artefact, running, None)
        if self._is_changed(artefact):
            artefacts.append(
                Artefact(f"{artefact.stage}_as_written", Dialect.TEXT, artefact.text, attempt=artefact.attempt)
            )
            self._write(artefacts[1], running, None)
        for text in artefacts:
            text.text = ""
        return artefacts

    def _is_changed(self, artefact: Artefact) -> bool:
        """Return whether the file of an artefact does not contain torch's own text."""
        return artefact.text.strip("\n") not in self._last_text

    def _loose(self, kind: str, details: Mapping[str, Any], payload: str | None) -> None:
        if kind in stages.SHAPE_FACTS:
            self.session.shapes.append(self._shape_fact(kind, details))
        if payload is not None:
            self.session.loose += self._written(stages.artefact_of(kind, details, payload, 0), None)

    def leaves_out(self, kind: str) -> bool:
        """Return whether a kind of record contains nothing to join."""
        return kind in stages.ONLY_BOOKKEEPING

    def place_of_start(self, details: Mapping[str, Any]) -> tuple[tuple[UserLine, ...], object]:
        """Return the stack of a starting compile."""
        stack = records.user_stack(details.get("stack"), self._strings, self.line_at)
        self.quotes.add_stack(stack)
        self._compiled.update((line.filename, line.function) for line in stack[-1:])
        return self._users(stack), None

    def strings(self) -> Mapping[int, str]:
        """Return the file names that the trace has defined so far."""
        return self._strings

    def now(self) -> float:
        """Return the seconds from the first record to the current one."""
        return self._last - (self._first or 0.0)

    def line_at(self, filename: str, line: int, function: str = "") -> UserLine:
        """Return a line without its text, which is filled in at the end.

        Args:
            filename: the path of the file.
            line: the line number, from 1.
            function: the name of the function around it.
        """
        return UserLine(filename, line, "", function)

    def source_of(self, here: UserLine) -> str:
        """Return "", because the source is known only at the end."""
        return ""

    def keep_source(self, filename: str) -> None:
        """Record a file of the user's."""
        if filename:
            self._files[filename] = None

    def known_before(self, code: object) -> Function | None:
        """Return None, because a trace is read on its own."""
        return None

    def text_of_file(self, artefact: Artefact, running: LogRunning | None, compiled_fn: int | None) -> str:
        """Return the payload; for a graph or a wrapper with a header.

        Args:
            artefact: the artefact.
            running: the compile that it belongs to, if any.
            compiled_fn: the number of its graph; a trace numbers graphs itself, so it is not used.
        """
        self._last_text = self._text_of_file(artefact, running)
        return self._last_text

    def _text_of_file(self, artefact: Artefact, running: LogRunning | None) -> str:
        compiled = running.compile if running is not None else None
        if artefact.dialect is Dialect.GRAPH:
            for filename in dict.fromkeys(line.filename for line in user_lines(artefact.text)):
                self.keep_source(filename)
            return graph_file(artefact.text, [artefact_title(artefact, compiled, None)]).text
        if artefact.dialect is Dialect.PYTHON:
            return python_file(artefact, compiled, None)
        return artefact.text

    def owner(self, artefact: Artefact, running: LogRunning | None, compiled_fn: int | None) -> str:
        """Return the graph that an artefact belongs to, or else its compile.

        Args:
            artefact: the artefact.
            running: the compile that it belongs to, if any.
            compiled_fn: the number of its graph; a trace numbers graphs itself, so it is not used.
        """
        if running is None:
            return f"{GRAPH}0"
        if running.graph is None:
            return f"compile_{running.compile.id.frame}_{running.compile.id.compile}"
        return f"{GRAPH}{running.graph}"


def _told(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Return torch's metrics. A long text, such as all of torch's settings, is only in the artefact."""
    kept = {sys.intern(name): value for name, value in metrics.items() if value is not None}
    for name, value in kept.items():
        if isinstance(value, str) and len(value) > MOST_METRIC:
            kept[name] = f"{len(value)} characters, in the artefact {stages.FRAME_ENDS}"
    return kept


def _place(line: UserLine) -> tuple[str, int, str]:
    return line.filename, line.line, line.function


def _words(fact: ShapeFact) -> str:
    at = f"  # {fact.where.filename}:{fact.where.line} {fact.where.text}" if fact.where is not None else ""
    return f"{fact.kind}: {fact.expression}{f' = {fact.detail}' if fact.detail else ''}{at}"
