"""Collect the tuning events in the timeline of a trace as an artefact of each compile."""

from __future__ import annotations

import json
from dataclasses import field
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.model.run import Artefact, Dialect
from depyf.model.tuning import TIMES
from depyf.trace.events import CHOICES, CONFIGS, DESCENT, Events, Timed, is_about_tuning


@dataclass(slots=True)
class Tuning:
    """The seconds in which each kernel of a compile was tuned, and the choices between templates, in order."""

    kernels: dict[str, float] = field(default_factory=dict)
    choices: list[dict[str, Any]] = field(default_factory=list)

    def note(self, event: Timed) -> None:
        """Record an event if it is about tuning."""
        if event.name in (CONFIGS, DESCENT):
            name = str(event.arguments.get("kernel_name"))
            self.kernels[name] = round(self.kernels.get(name, 0.0) + event.seconds, 6)
        elif event.name.endswith(CHOICES):
            operation = {"operation": event.name.removesuffix(CHOICES), "shapes": event.arguments.get("autotune_shape")}
            stats = event.arguments.get("autotune_choices_stats")
            self.choices.append({**operation, "seconds": event.seconds, "stats": stats})

    def artefact(self) -> Artefact | None:
        """Return everything as JSON, or None if there is nothing."""
        if not self.kernels and not self.choices:
            return None
        return Artefact(TIMES, Dialect.JSON, json.dumps({"kernels": self.kernels, "choices": self.choices}))


@dataclass(slots=True)
class Tunings:
    """The tuning of all compiles of a running process, from the events that torch writes for its timeline."""

    _events: Events = field(default_factory=Events)
    _of: dict[str, Tuning] = field(default_factory=dict)

    def take(self, payload: str) -> None:
        """Record an event, given as torch's JSON, if it ends a tuning."""
        event = self._events.take(payload)
        if event is not None and is_about_tuning(event.name):
            self._of.setdefault(event.compile, Tuning()).note(event)

    def artefact_of(self, compile_id: str) -> Artefact | None:
        """Return the tuning of a compile, or None if there was none."""
        tuning = self._of.get(compile_id)
        return tuning.artefact() if tuning is not None else None
