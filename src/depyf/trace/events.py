"""Timeline events that carry more than a duration: recordings of CUDA graphs, and tuning."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from depyf.bytecode.records import dataclass

RECORDING = "CUDAGraphNode.record"
"""The recording of one CUDA graph."""
CONFIGS = "CachingAutotuner.benchmark_all_configs"
DESCENT = "CachingAutotuner.coordinate_descent_tuning"
"""The searches for the best configuration of a kernel: first among several, then step by step from the best."""
CHOICES = "_template_autotuning"
"""The suffix of the name of a choice between templates and libraries, after the operation."""

WANTED = tuple(name.encode() for name in (RECORDING, CONFIGS, DESCENT, CHOICES))


def is_about_tuning(name: str) -> bool:
    """Return whether an event of this name is a choice between configurations or kernels."""
    return name in (CONFIGS, DESCENT) or name.endswith(CHOICES)


@dataclass(frozen=True, slots=True)
class Timed:
    """A finished event: its name, torch's compile id, its arguments, and its duration."""

    name: str
    compile: str
    arguments: Mapping[str, Any]
    seconds: float


@dataclass(slots=True)
class Events:
    """Matches the start and the end of events, which torch writes as separate records."""

    _open: dict[tuple[str, str, str], float] = field(default_factory=dict)

    def take(self, text: str) -> Timed | None:
        """Return the event that a record ends, or None for another record."""
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
