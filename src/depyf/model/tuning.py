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
    by_kernel: dict[str, Tuned] = {}
    for text in infos:
        for name, info in _mapping(text).items():
            if isinstance(info, dict):
                by_kernel[name] = _tuned(info)
    for text in times:
        kernels = _mapping(text).get("kernels")
        for name, seconds in kernels.items() if isinstance(kernels, dict) else ():
            by_kernel[name] = replace(by_kernel.get(name, Tuned()), tuning_seconds=_number(seconds))
    return by_kernel


def choices(times: Iterable[str]) -> list[Choice]:
    """Return the choices between templates and libraries in a trace, in order."""
    all_choices = []
    for text in times:
        rows = _mapping(text).get("choices")
        all_choices += [_choice(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return all_choices


def _tuned(info: Mapping[str, Any]) -> Tuned:
    state, count = str(info.get("autotune_cache_state") or ""), info.get("num_configs")
    known = info.get("only_config") or info.get("best_config")
    took = _number(info.get("compile_time_us"))
    return Tuned(
        state,
        1 if info.get("only_config") else count if isinstance(count, int) else None,
        _configuration(known),
        None if took is None else round(took / 1e6, 6),
    )


def _configuration(configuration: object) -> str:
    """Return a configuration as text, for example of `[["XBLOCK", 128], ["num_warps", 4]]`."""
    pairs = configuration if isinstance(configuration, list) else []
    return ", ".join(f"{pair[0]} {pair[1]}" for pair in pairs if isinstance(pair, list) and len(pair) == 2)


def _choice(choice: Mapping[str, Any]) -> Choice:
    stats = _mapping(str(choice.get("stats") or ""))
    best = str(stats.get("best_kernel") or "")
    is_triton = stats.get("best_triton_pos") == 0
    tried = stats.get("num_choices")
    return Choice(
        str(choice.get("operation") or ""),
        str(choice.get("shapes") or ""),
        tried if isinstance(tried, int) else 0,
        best,
        _number(stats.get("best_time")),
        str(stats.get("best_kernel_desc") or ""),
        best if is_triton else str(stats.get("best_triton_kernel") or ""),
        _number(stats.get("best_time" if is_triton else "best_triton_time")),
        _number(choice.get("seconds")) or 0.0,
    )


def _mapping(text: str) -> dict[str, Any]:
    try:
        mapping = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return mapping if isinstance(mapping, dict) else {}


def _number(data: object) -> float | None:
    return (
        float(data)
        if isinstance(data, (int, float)) and not isinstance(data, bool)
        else None
    )
