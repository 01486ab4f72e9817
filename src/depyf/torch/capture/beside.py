"""Everything beside the compiles of one context: failing calls, calls that bypass compiled code, late hooks."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from depyf.model.bypass import COMPILATION, SWITCHED_OFF
from depyf.model.run import Session
from depyf.torch.adapters.stances import is_switched_off
from depyf.torch.adapters.tracebacks import own_frames_stay
from depyf.torch.capture.recorder import Recorder, Running
from depyf.torch.dump.problems import Problems

if TYPE_CHECKING:
    # Imported at the first event or compile, so that a program without one does not pay for them.
    from depyf.torch.capture.bypassed import Bypassed
    from depyf.torch.capture.graph_failures import GraphFailures
    from depyf.torch.capture.hooked_modules import HookedModules


class Beside:
    """Notes in a session what compiled code did not serve, and how its calls failed."""

    def __init__(
        self, session: Session, recorder: Recorder, problems: Problems, changed: Callable[[Running], None]
    ) -> None:
        """Begin; `changed` is called when a compile has a new exception."""
        self._session = session
        self._recorder = recorder
        self._problems = problems
        self._changed = changed
        self._failures: GraphFailures | None = None
        self._modules: HookedModules | None = None
        self._bypassed: Bypassed | None = None

    def compiled(self, running: Running | None, new_code: types.CodeType) -> None:
        """Watch the graphs that Dynamo's code of a compile calls."""
        if running is None:
            return
        if self._failures is None:
            from depyf.torch.capture.graph_failures import GraphFailures

            self._failures = GraphFailures(self._problems, self._changed)
        self._failures.watch(running, new_code)

    def guarded(self, running: Running) -> None:
        """Note the modules that a compile calls, while torch writes its record of the guards."""
        with self._problems.contained(f"reading the modules of {running.compile.id}"):
            if self._modules is None:
                from depyf.torch.capture.hooked_modules import HookedModules

                self._modules = HookedModules()
            self._modules.note(running)

    def on_event(self, kind: str, *facts: Any) -> None:
        """Receive an event of a compiled module or a stance, with torch's objects."""
        if self._bypassed is None:
            from depyf.torch.capture.bypassed import Bypassed

            self._bypassed = Bypassed(self._session, self._recorder.code_of)
        self._bypassed.on_event(kind, *facts)

    def end(self) -> None:
        """Leave torch's graphs as they were, and note the hooks that compiled code does not run."""
        if self._failures is not None:
            self._failures.end()
        if is_switched_off():
            self._session.unavailable[COMPILATION] = SWITCHED_OFF
        if self._failures is not None and self._failures.unwatched:
            stay = own_frames_stay()
            reason = stay.reason if stay else "this torch calls compiled graphs in a way that depyf does not know"
            self._session.unavailable["exceptions of compiled code in calls"] = reason
        if self._modules is not None:
            self._session.bypassed.update(dict.fromkeys(self._modules.bypasses(), 1))
