"""Choose which steps of a run are measured, and how. Stretches with and without the profiler alternate.

before: a program that calls compiled code a thousand times
after: of its steady calls, some stretches of a few steps are profiled, the stretches between them are only timed, and
    one stretch has a mark for each user line; then all hooks are removed
"""

from __future__ import annotations

import os
import threading
import time
import types
import weakref
from collections.abc import Callable
from enum import Enum

from depyf.bytecode.records import dataclass
from depyf.links.profile.events import CALL, STEP, Event, Recording
from depyf.model.run import Unavailable
from depyf.torch.adapters import seams
from depyf.torch.adapters.interpreted_kernels import mark_interpreted
from depyf.torch.adapters.runs import watch_runs
from depyf.torch.adapters.stances import run_eagerly
from depyf.torch.profile.kineto import Window, is_profiled, mark, wait_for_device
from depyf.torch.profile.lined import Calls, LineMarks, is_traced

ENOUGH = ((30, 0.0), (10, 0.02), (5, 0.15), (3, 2.0))
"""Pairs of steps and seconds: a stretch is long enough with that many steps after that many seconds.

Short stretches alternate more often, but the first steps after a switch are slower.
"""
AGAIN = 17
"""How often both kinds of stretches alternate: the speed of a machine changes for seconds at a time."""
LONG = 2.0
"""The minimum time of the alternation, in seconds: else a step of 2 ms would be measured for half a second."""
MOST = 60
"""The maximum number of alternations: each adds events to keep."""
FEWEST_LINED = 3
"""The minimum number of steps with line marks."""
WARM = 2
"""Calls after a compile before the measurement begins: the first call compiles the backward."""


UNLINED = "lines of eager code are not known: the run ended before the steps that mark lines; run more steps"
"""The note of a run with fewer than about 70 fast steps: those that are only timed come first."""


class Stretch(Enum):
    """How a stretch of the run is measured."""

    WARM = "warm"
    PROFILED = "profiled"
    BARE = "bare"
    LINED = "lined"
    EAGER = "eager"
    EAGER_BARE = "eager, timed alone"
    DONE = "done"


_WITH_LINES = (Stretch.LINED, Stretch.EAGER)


_IN_TURN = (Stretch.PROFILED, Stretch.BARE)


def _order(*, against_eager: bool) -> list[Stretch]:
    """Return the stretches of a run, ordered so that even a run that ends early has one of each."""
    eager = [Stretch.EAGER, Stretch.EAGER_BARE] if against_eager else []
    return [Stretch.WARM, *_IN_TURN, Stretch.LINED, *eager, *_IN_TURN * AGAIN, Stretch.DONE]


@dataclass(slots=True)
class _Now:
    """The current stretch: the mark that begins its steps, its start, and its number of steps."""

    kind: Stretch
    began: float
    mark: int | None = None
    steps: int = 0

    @property
    def is_long_enough(self) -> bool:
        """Return whether it has enough steps."""
        seconds = time.perf_counter() - self.began
        if self.kind is Stretch.WARM:
            return self.steps > WARM
        if self.kind in _WITH_LINES:
            return self.steps > FEWEST_LINED
        return any(self.steps >= steps and seconds >= least for steps, least in ENOUGH)


class Measurement:
    """Measures the steps of the thread that begins it.

    against_eager: run some steps uncompiled at the end, for comparison.
    """

    def __init__(self, *, against_eager: bool = False) -> None:
        self.recording = Recording()
        self._against_eager = against_eager
        self._codes: dict[types.CodeType, int] = {}
        self._order = _order(against_eager=against_eager)
        self._now = _Now(self._order.pop(0), time.perf_counter())
        self._window: Window | None = None
        self._lines: LineMarks | None = None
        self._compiled_again: Callable[[], None] | None = None
        self._explicit = False
        self._untold = ""
        self._unwatch: Callable[[], None] | None = None
        self._owner = threading.get_ident()
        _MEASURING.add(self)
        self._undo: list[Callable[[], None]] = []

    def begin(self) -> None:
        """Begin to receive calls into compiled code, if torch reports them."""
        handle = seams.register_bytecode_hook(self._on_compile)
        self._undo.append(handle.remove)
        self._undo.append(mark_interpreted())
        ended = watch_runs(self._on_run)
        if isinstance(ended, Unavailable):
            self._untold = ended.reason
        else:
            self._unwatch = ended

    def end(self) -> Recording:
        """End it, remove all hooks from torch, and return the measurements."""
        if self._is_here():
            if self.recording.windows and Stretch.LINED in self._order:
                self.recording.notes.append(UNLINED)
            self._order.clear()
            self._close()
        self._leave()
        if self._untold and not self._explicit:
            self.recording.notes.append(f"only steps that the program marks can be measured: {self._untold}")
        return self.recording

    def step(self) -> None:
        """Record that a user's step ends here and the next one begins."""
        if not self._is_here():
            return
        if not self._explicit:
            # The calls that counted as steps until now do not count any more.
            self._explicit = True
            self._close()
            self._watch_no_runs()
            self._now = _Now(Stretch.WARM, time.perf_counter())
            self._order = _order(against_eager=self._against_eager)[1:]
            self.recording.windows.clear()
            self.recording.bare.clear()
        self._boundary(None)

    def after_fork(self) -> None:
        """Measure nothing more: this is a child of the measured process.

        Asking for the process at every step would cost a system call, and the next guard lookup would take longer.
        """
        self._owner = 0

    def _is_here(self) -> bool:
        return threading.get_ident() == self._owner

    def _on_run(self, code: types.CodeType) -> None:
        """Process a call. torch ends the process if this raises."""
        try:
            self._called(code)
        except Exception as error:  # noqa: BLE001 - the user's program goes on; the profile says that it ended
            self._give_up(f"the measurement failed with {type(error).__name__}: {error}")

    def _called(self, code: types.CodeType) -> None:
        if self._explicit or not self._is_here() or code.co_name.startswith(seams.RESUME_PREFIX):
            return
        number = self._codes.get(code)
        if number is None:
            number = self._codes[code] = len(self._codes)
            self.recording.codes.append((code.co_name, code.co_filename, code.co_firstlineno))
        self._boundary(number)

    def _on_compile(self, code: types.CodeType, new_code: types.CodeType) -> None:
        """Restart a stretch in which something is compiled."""
        if not self._is_here() or self._now.kind is Stretch.DONE:
            return
        self._close()
        self._order.insert(0, self._now.kind)
        if self._now.kind is not Stretch.WARM:
            self._order.insert(0, Stretch.WARM)
        self._now = _Now(self._order.pop(0), time.perf_counter())

    def _boundary(self, number: int | None) -> None:
        now = self._now
        if now.kind is Stretch.DONE:
            return
        if now.steps == 0:
            now.mark = number
        if now.mark == number:
            # The host runs ahead of a device. A step ends when the device has done its work.
            wait_for_device()
            now.steps += 1
        self._note(number)
        if now.mark == number and now.is_long_enough:
            self._close()
            self._open(number)

    def _note(self, number: int | None) -> None:
        """Add a mark to the current recording."""
        if self._window is not None:
            mark(STEP if number is None else f"{CALL}{number}")
        elif self._now.kind is Stretch.BARE:
            self.recording.bare[-1].append((number, time.perf_counter()))
        elif self._now.kind is Stretch.EAGER_BARE:
            self.recording.eager_bare.append(time.perf_counter())

    def _open(self, number: int | None) -> None:
        """Open the next stretch, at the beginning of a step."""
        if self._order == [Stretch.DONE] and self._is_short():
            self._order = [*_IN_TURN, Stretch.DONE]
        kind = self._order.pop(0)
        if kind is Stretch.LINED and is_traced():
            self.recording.notes.append("lines of eager code are not known: something else traces the program's lines")
            kind = self._order.pop(0)
        if kind is Stretch.EAGER and not self._can_run_eagerly():
            kind = Stretch.DONE
        if kind in (Stretch.PROFILED, *_WITH_LINES) and is_profiled():
            self._give_up("the program profiles itself: two profilers cannot run at once")
            return
        self._now = _Now(kind, time.perf_counter(), number)
        match kind:
            case Stretch.PROFILED | Stretch.LINED | Stretch.EAGER:
                if kind in _WITH_LINES:
                    is_eager = kind is Stretch.EAGER
                    self._lines = LineMarks(self._calls_of(number) if is_eager else None, with_libraries=is_eager)
                # The first mark belongs to the next step: the profiler takes longer for its first event.
                self._window = Window()
            case Stretch.EAGER_BARE:
                self._lines = LineMarks(self._calls_of(number), with_lines=False)
            case Stretch.BARE:
                self.recording.bare.append([(number, time.perf_counter())])
            case Stretch.DONE:
                self._leave()

    def _is_short(self) -> bool:
        """Return whether the measurement is too short for a reliable mean."""
        bare = sum(stretch[-1][1] - stretch[0][1] for stretch in self.recording.bare)
        return 2 * bare < LONG and len(self.recording.bare) < MOST

    def _can_run_eagerly(self) -> bool:
        """Switch compiled functions to eager if that is possible and can be measured; record the reason if not."""
        ended = Unavailable("something else traces the program's lines") if is_traced() else run_eagerly()
        if isinstance(ended, Unavailable):
            self.recording.notes.append(f"nothing was measured without compiled code: {ended.reason}")
            return False
        self._compiled_again = ended
        return True

    def _calls_of(self, number: int | None) -> Calls | None:
        """Return how to notice calls of the user's code that begins a step while no compiled code runs."""
        if number is None:
            return None
        return Calls(self.recording.codes[number], lambda: self._boundary(number))

    def _close(self) -> None:
        """Close the current stretch."""
        window, self._window = self._window, None
        lines, self._lines = self._lines, None
        if lines is not None:
            lines.end()
        if window is not None:
            self._keep(window.end())
        if self._compiled_again is not None and self._order[:1] != [Stretch.EAGER_BARE]:
            again, self._compiled_again = self._compiled_again, None
            again()

    def _keep(self, events: list[Event]) -> None:
        match self._now.kind:
            case Stretch.LINED:
                self.recording.lined = events
            case Stretch.EAGER:
                self.recording.eager = events
            case _:
                self.recording.windows.append(events)

    def _give_up(self, why: str) -> None:
        self.recording.notes.append(why)
        self._now = _Now(Stretch.DONE, time.perf_counter())
        self._leave()

    def _leave(self) -> None:
        """Remove the hooks on calls from torch."""
        self._watch_no_runs()
        undo, self._undo = self._undo, []
        for remove in reversed(undo):
            remove()

    def _watch_no_runs(self) -> None:
        unwatch, self._unwatch = self._unwatch, None
        if unwatch is not None:
            unwatch()


_MEASURING: weakref.WeakSet[Measurement] = weakref.WeakSet()


def _after_fork() -> None:
    for measurement in _MEASURING:
        measurement.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
