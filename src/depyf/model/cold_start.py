"""The cold start of a process: what passed from its start to the end of its last compile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from depyf.bytecode.records import dataclass


@dataclass(frozen=True, slots=True)
class Wait:
    """A time that the program waited for a compile. `at` are seconds since the start of the process.

    function: the compiled function, or the backward of it; "" for work of depyf or of torch that belongs to no compile.
    """

    at: float
    seconds: float
    compile: str = ""
    function: str = ""


@dataclass(frozen=True, slots=True)
class ColdStart:
    """The seconds from the start of a process to the end of its last compile.

    before: until Python ran the first code of a module; None where the system does not tell when the process began.
    imports: by package, without those inside a compile.
    program: the code of the program itself; `early` is its part before the first compile.
    caches: the lookups in each of torch's caches, by outcome.
    """

    seconds: float
    before: float | None
    imports: Mapping[str, float]
    compiles: float
    program: float
    early: float
    waits: tuple[Wait, ...] = ()
    caches: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def cold_start(
    before: float | None,
    imports: Mapping[str, float],
    early_imports: float,
    waits: Iterable[Wait],
    caches: Mapping[str, Mapping[str, int]],
) -> ColdStart | None:
    """Return the cold start of a process, or None without a compile.

    Args:
        before: as in `ColdStart`.
        imports: the seconds of each package until the last compile ended.
        early_imports: the seconds of all packages until the first compile began.
        waits: in any order; those of two threads may overlap.
        caches: as in `ColdStart`.
    """
    ordered = sorted(waits, key=lambda wait: wait.at)
    if not ordered:
        return None
    compiles = end = 0.0
    for wait in ordered:
        compiles += max(wait.at + wait.seconds - max(end, wait.at), 0.0)
        end = max(end, wait.at + wait.seconds)
    packages = dict(sorted(imports.items(), key=lambda pair: -pair[1]))
    program = end - (before or 0.0) - sum(packages.values()) - compiles
    early = ordered[0].at - (before or 0.0) - early_imports
    return ColdStart(end, before, packages, compiles, max(program, 0.0), max(early, 0.0), tuple(ordered), caches)


def cold_start_json(start: ColdStart) -> dict[str, Any]:
    """Return the cold start as `compile_times.json` has it."""
    return {
        "seconds": round(start.seconds, 6),
        "before": None if start.before is None else round(start.before, 6),
        "imports": {name: round(seconds, 6) for name, seconds in start.imports.items()},
        "compiles": round(start.compiles, 6),
        "program": round(start.program, 6),
        "early": round(start.early, 6),
        "waits": [[round(wait.at, 6), round(wait.seconds, 6), wait.compile, wait.function] for wait in start.waits],
        "caches": {name: dict(outcomes) for name, outcomes in start.caches.items()},
    }


def read_cold_start(stored: Mapping[str, Any]) -> ColdStart:
    """Return the cold start from JSON."""
    waits = tuple(Wait(*wait) for wait in stored["waits"])
    return ColdStart(**{**stored, "waits": waits})
