"""The tuning of a compile's kernels, from torch's trace: configurations, times, and choices of templates.

No record has registers, spills or shared memory; torch writes them only to a log for its developers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from depyf.bytecode.records import dataclass

INFO = "triton_kernel_info"
"""torch's artefact about each Triton kernel."""
TIMES = "autotuning"
"""depyf's artefact with the timeline of a trace file."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """The tuning of a kernel: the number of configurations, the chosen one if known, and the times in seconds.

    state: torch's word for the result of its cache of configurations.
    """

    state: str = ""
    configurations: int | None = None
    configuration: str = ""
    compile_seconds: float | None = None
    tuning_seconds: float | None = None

    @property
    def is_known(self) -> bool:
        """Whether torch recorded anything about it."""
        return self != Tuned()


@dataclass(frozen=True, slots=True)
class Choice:
    """The choice of a kernel for an operation: the number of candidates, and the best one, with its milliseconds.

    triton: the best of Triton's templates.
    seconds: the time to try all candidates.
    """

    operation: str
    shapes: str
    tried: int
    best: str
    milliseconds: float | None
    description: str
    triton: str
    triton_milliseconds: float | None
    seconds: float


def tuned(infos: Iterable[str], times: Iterable[str]) -> dict[str, Tuned]:
    """Return how each kernel was tuned, by its name, from texts of artefacts.

    >>> tuned(['{"k": {"autotune_cache_state": "miss", "num_configs": 2, "compile_time_us": 1500}}'], [])
    {'k': Tuned(state='miss', configurations=2, configuration='', compile_seconds=0.0015, tuning_seconds=None)}
    """
    found: dict[str, Tuned] = {}
    for text in infos:
        for name, told in _mapping(text).items():
            if isinstance(told, dict):
                found[name] = _tuned(told)
    for text in times:
        kernels = _mapping(text).get("kernels")
        for name, seconds in kernels.items() if isinstance(kernels, dict) else ():
            found[name] = replace(found.get(name, Tuned()), tuning_seconds=_number(seconds))
    return found


def choices(times: Iterable[str]) -> list[Choice]:
    """Return the choices between templates and libraries in a trace, in order."""
    found = []
    for text in times:
        told = _mapping(text).get("choices")
        found += [_choice(each) for each in told if isinstance(each, dict)] if isinstance(told, list) else []
    return found


def _tuned(told: Mapping[str, Any]) -> Tuned:
    state, count = str(told.get("autotune_cache_state") or ""), told.get("num_configs")
    known = told.get("only_config") or told.get("best_config")
    took = _number(told.get("compile_time_us"))
    return Tuned(
        state,
        1 if told.get("only_config") else count if isinstance(count, int) else None,
        _configuration(known),
        None if took is None else round(took / 1e6, 6),
    )


def _configuration(told: object) -> str:
    """Return a configuration as text, for example of `[["XBLOCK", 128], ["num_warps", 4]]`."""
    pairs = told if isinstance(told, list) else []
    return ", ".join(f"{pair[0]} {pair[1]}" for pair in pairs if isinstance(pair, list) and len(pair) == 2)


def _choice(told: Mapping[str, Any]) -> Choice:
    stats = _mapping(str(told.get("stats") or ""))
    best = str(stats.get("best_kernel") or "")
    is_triton = stats.get("best_triton_pos") == 0
    tried = stats.get("num_choices")
    return Choice(
        str(told.get("operation") or ""),
        str(told.get("shapes") or ""),
        tried if isinstance(tried, int) else 0,
        best,
        _number(stats.get("best_time")),
        str(stats.get("best_kernel_desc") or ""),
        best if is_triton else str(stats.get("best_triton_kernel") or ""),
        _number(stats.get("best_time" if is_triton else "best_triton_time")),
        _number(told.get("seconds")) or 0.0,
    )


def _mapping(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _number(told: object) -> float | None:
    return float(told) if isinstance(told, (int, float)) and not isinstance(told, bool) else None
