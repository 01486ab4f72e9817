"""Events of torch's timeline that say more than how long a phase took: what was recorded as a CUDA graph, and tuned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

RECORDING = "CUDAGraphNode.record"
"""The recording of one CUDA graph."""
CONFIGS = "CachingAutotuner.benchmark_all_configs"
DESCENT = "CachingAutotuner.coordinate_descent_tuning"
"""The search for the best configuration of a kernel: the first among some, the second step by step from there."""
CHOICES = "_template_autotuning"
"""How the name of a choice between templates and libraries ends; before it stands the operation."""

WANTED = tuple(each.encode() for each in (RECORDING, CONFIGS, DESCENT, CHOICES))


@dataclass(frozen=True, slots=True)
class Timed:
    """An event that has ended: its name, the compile id that torch gives it, its arguments, and how long it took."""

    name: str
    compile: str
    arguments: Mapping[str, Any]
    seconds: float


@dataclass(slots=True)
class Events:
    """Joins the beginnings and the ends of events; torch writes them as records of their own."""

    _open: dict[tuple[str, str, str], float] = field(default_factory=dict)

    def take(self, text: str) -> Timed | None:
        """Return the event that a record ends, or None where it begins one or is about another."""
        try:
            event = json.loads(text)
        except ValueError:
            return None
        given = event.get("args") if isinstance(event, dict) else None
        if not isinstance(given, dict) or not isinstance(when := event.get("ts"), (int, float)):
            return None
        name, compile_id = str(event.get("name")), str(given.get("compile_id"))
        key = name, compile_id, f"{given.get('kernel_name')} {given.get('is_backward')}"
        if event.get("ph") == "B":
            self._open[key] = when
        elif event.get("ph") == "E" and key in self._open:
            return Timed(name, compile_id, given, round((when - self._open.pop(key)) / 1e6, 6))
        return None
