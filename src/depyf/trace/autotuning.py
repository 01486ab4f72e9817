"""Collect the tuning events in the timeline of a trace as an artefact of each compile."""

from __future__ import annotations

import json
from dataclasses import field
from typing import Any

from depyf.bytecode.records import dataclass
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
            told = {"operation": event.name.removesuffix(CHOICES), "shapes": event.arguments.get("autotune_shape")}
            stats = event.arguments.get("autotune_choices_stats")
            self.choices.append({**told, "seconds": event.seconds, "stats": stats})

    @property
    def text(self) -> str:
        """Return everything as JSON, or "" if there is nothing."""
        return json.dumps({"kernels": self.kernels, "choices": self.choices}) if self.kernels or self.choices else ""


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

    def text_of(self, compile_id: str) -> str:
        """Return the tuning of a compile as JSON, or "" if there was none."""
        found = self._of.get(compile_id)
        return found.text if found is not None else ""
