"""Measure what each line of the program costs in each stage of the compiler."""

from __future__ import annotations

import os
import time
import types
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from depyf.model.cold_start import ColdStart, Wait, cold_start
from depyf.model.compile_times import OWN, CompileTimes, Place, repetition, write_times
from depyf.model.names import resumed_function
from depyf.model.naming import title
from depyf.model.run import Session
from depyf.torch.adapters import seams
from depyf.torch.adapters.compile_steps import Steps, Threads
from depyf.torch.adapters.skips import OF_TORCH
from depyf.torch.adapters.unheard import LISTENERS
from depyf.torch.capture.line_facts import name_of
from depyf.trace.event_stages import OUTERMOST
from depyf.trace.ledger import Ledger, Node, Spot, collected
from depyf.trace.records import stack_frames
from depyf.trace.start_clock import StartClock

_TRIALS = 2000
"""Readings of the clock to estimate the cost of one."""


class CompileTiming:
    """Measures the compiles of this process, beside its capture: it begins after the capture and ends before it.

    clock: has measured the imports since the start of the process, if anything has.
    now: returns nanoseconds; the same clock as that of `clock`.
    """

    def __init__(self, clock: StartClock | None = None, now: Callable[[], int] = time.perf_counter_ns) -> None:
        self._now = now
        self._threads = Threads()
        self._clock = clock
        self._imports: list[dict[str, int]] = []
        self._ledgers: list[Ledger] = []
        self._steps: Steps | None = None
        self._process = os.getpid()

    def begin(self) -> None:
        """Begin to measure."""
        self._steps = Steps(self._threads, stack_frames)
        LISTENERS.append(self)
        if self._clock is not None:
            self._clock.is_elsewhere = self._is_compiling

    def end(self) -> None:
        """Stop measuring."""
        if self in LISTENERS:
            LISTENERS.remove(self)
        if self._steps is not None:
            self._steps.end()
        if self._clock is not None:
            self._clock.end()

    def _is_compiling(self) -> bool:
        ledger = self._threads.ledger
        return ledger is not None and bool(ledger.steps)

    def event(self, event: Mapping[str, Any]) -> None:
        """Receive one of torch's timeline events, when it happens."""
        ledger = self._threads.ledger
        if ledger is None:
            ledger = self._threads.ledger = Ledger(self._now)
            self._ledgers.append(ledger)
        ledger.event(event, own_id=_current_id)
        if not ledger.steps or not self._imports:
            self._note_imports()
        if self._steps is not None and ledger.steps:
            self._steps.watch_inductor()

    def _note_imports(self) -> None:
        """Note what was imported before the first compile began, and when the last one ended."""
        if self._clock is not None:
            self._imports[1:] = [dict(self._clock.packages)]

    def enter_own(self) -> int | None:
        """Begin depyf's own work in this thread; return what `leave_own` takes, None before its first compile."""
        ledger = self._threads.ledger
        return ledger.enter(OWN, ledger.root) if ledger is not None else None

    def leave_own(self, depth: int) -> None:
        """End depyf's own work."""
        ledger = self._threads.ledger
        if ledger is not None:
            ledger.leave(depth)

    def times(self, session: Session) -> CompileTimes:
        """Return what was measured so far, with the functions of the capture."""
        codes = self._steps.codes if self._steps is not None else {}
        known = _Functions(codes, session)
        compile_times = collected(self._ledgers, known.of_spot, known.of_compile)
        if self._steps is not None:
            compile_times.unavailable = dict(self._steps.unavailable)
            for code, count in self._steps.traced.items():
                if resumed_function(code.co_name) is None:
                    key = code.co_filename, code.co_firstlineno, name_of(code)
                    compile_times.traced[key] = compile_times.traced.get(key, 0) + count
        if not seams.has_structured_trace():
            compile_times.unavailable["stages"] = "this torch has no timeline of compiles"
        compile_times.repetitions = [
            repetition(compile_times, str(compiled.id), repeat)
            for _, compiled in session.compiles()
            for repeat in compiled.repeats
            if repeat.first
        ]
        compile_times.cost = compile_times.measured * _seconds_of_a_reading()
        compile_times.start = self._cold_start(session)
        return compile_times

    def _cold_start(self, session: Session) -> ColdStart | None:
        clock = self._clock
        if clock is None or clock.process != self._process or not self._imports:
            return None
        before = clock.before()
        functions = session.functions
        titles = {str(compiled.id): title(functions[function.root]) for function, compiled in session.compiles()}
        waits = []
        for began, ended, compile_id, event in (wait for ledger in self._ledgers for wait in ledger.waits):
            at = (began - clock.began + (before or 0)) / 1e9
            name = titles.get(compile_id, "")
            function = f"the backward of {name}" if event == OUTERMOST[-1] and name else name
            waits.append(Wait(at, (ended - began) / 1e9, compile_id, function))
        first, last = self._imports[0], self._imports[-1]
        imports = {name: spent / 1e9 for name, spent in last.items()}
        early = sum(first.values()) / 1e9
        return cold_start(None if before is None else before / 1e9, imports, early, waits, _lookups(session))

    def write(self, session: Session) -> None:
        """Write the times into the dump of the ended capture.

        Raises:
            OSError: the file cannot be written.
        """
        if os.getpid() == self._process:  # a forked child inherits what its parent measures
            write_times(Path(session.directory), self.times(session))


def _lookups(session: Session) -> dict[str, dict[str, int]]:
    """Return how often each outcome happened in each of torch's caches."""
    counts: dict[str, dict[str, int]] = {}
    for event in (event for _, compiled in session.compiles() for event in compiled.caches):
        outcomes = counts.setdefault(event.cache, {})
        outcomes[event.outcome] = outcomes.get(event.outcome, 0) + 1
    return counts


class _Functions:
    """The functions that Dynamo has read, by which a line in a stack is recognised."""

    def __init__(self, codes: Iterable[types.CodeType], session: Session) -> None:
        self._codes: dict[tuple[str, str], list[tuple[types.CodeType, set[int]]]] = {}
        for code in codes:
            lines = {line for _, _, line in code.co_lines() if line}
            self._codes.setdefault((code.co_filename, code.co_name), []).append((code, lines))
        self._compiled: dict[str, Place] = {}
        for function, compiled in session.compiles():
            root = session.functions[function.root]
            place = self._function(root.filename, root.first_line, root.name)
            name = place[1] if place[0] else root.qualname or root.name
            self._compiled[str(compiled.id)] = Place(-1, root.filename, root.first_line, name)

    def of_compile(self, compile_id: str) -> Place | None:
        """Return the compiled function; for a resume function, the function that it resumes."""
        return self._compiled.get(compile_id)

    def of_spot(self, spot: Spot) -> tuple[int, str, bool]:
        """Return the first line and the name of the function of a line, and whether it is torch's."""
        file, lines, function, *_ = spot
        line = lines if isinstance(lines, int) else lines[0]
        return (*self._function(file, line, function), file.startswith(OF_TORCH))

    def _function(self, file: str, line: int, function: str) -> tuple[int, str]:
        """Return the first line and the name of the function with a line; 0 as the first line if it is unknown."""
        resumed = resumed_function(function)
        name = resumed[0] if resumed else function
        containing = [pair for pair in self._codes.get((file, name), ()) if line in pair[1]]
        if not containing:
            return 0, name
        code, _ = min(containing, key=lambda pair: len(pair[1]))
        return code.co_firstlineno, name_of(code)


def _current_id() -> str:
    """Return the id of the running compile, for a torch whose events do not have it."""
    current = seams.current_compile()
    return str(current[0]) if current is not None else ""


def _seconds_of_a_reading() -> float:
    """Return what one reading of the clock takes, with the step that it begins or ends."""
    ledger = Ledger(time.perf_counter_ns)
    ledger.event({"name": "dynamo", "ph": "B"})
    places = [Node(ledger.root, ("", line, "", "", "")) for line in range(2)]
    began = time.perf_counter()
    for number in range(_TRIALS // 2):
        ledger.leave(ledger.enter(place=places[number % 2]))
    return (time.perf_counter() - began) / _TRIALS
