"""The time of a compile, split into parts that add up. torch's own numbers contain each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

KERNELS = "kernel compilers"
"""Seconds to compile and load kernels, as seen by a live capture. The compilers below are parts of it."""
CPP, TRITON = "C++ compiler", "Triton compiler"
"""Seconds that torch waited for a compiler. torch has one number for both, which it names for Triton."""
AOT, BACKEND = "AOTAutograd", "backend"
"""The backend's time outside of Inductor: AOTAutograd's, or all of it if Inductor did not compile (or took a graph from
a cache)."""
PHASES = ("dynamo", AOT, "Inductor", "code generation", "backward", CPP, TRITON, BACKEND)
"""The parts in order. Those of other compilers come last, whichever graph they worked for."""


def phases(seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the seconds of each part that took time.

    >>> phases({"total": 5.0, "backend": 4.0, "inductor": 3.0, "code generation": 1.0})
    {'dynamo': 1.0, 'AOTAutograd': 1.0, 'Inductor': 2.0, 'code generation': 1.0}
    >>> phases({"total": 5.0, "backend": 5.0, "inductor": 5.0, "code generation": 4.0, "kernel compilers": 3.0})
    {'Inductor': 1.0, 'code generation': 1.0, 'C++ compiler': 3.0}
    >>> phases({"total": 5.0, "backend": 5.0, "inductor": 5.0, "code generation": 4.0, "Triton compiler": 3.0})
    {'Inductor': 1.0, 'code generation': 1.0, 'Triton compiler': 3.0}
    >>> phases({"total": 5.0, "backend": 4.0})
    {'dynamo': 1.0, 'backend': 4.0}
    """
    total = seconds.get("total", 0.0)
    backend = min(seconds.get("backend", 0.0), total)
    inductor = min(seconds.get("inductor", 0.0), backend)
    generation = min(seconds.get("code generation", 0.0), inductor)
    backward = seconds.get("backward total", seconds.get("backward inductor", 0.0))
    kernels = min(max(seconds.get(name, 0.0) for name in (KERNELS, CPP, TRITON)), generation)
    of_backward = min(max(seconds.get(f"backward {name}", 0.0) for name in (KERNELS, CPP, TRITON)), backward)
    triton = min(seconds.get(TRITON, 0.0) + seconds.get(f"backward {TRITON}", 0.0), kernels + of_backward)
    outside = backend - inductor
    parts = (
        *(total - backend, outside if inductor else 0.0, inductor - generation, generation - kernels),
        *(backward - of_backward, kernels + of_backward - triton, triton, 0.0 if inductor else outside),
    )
    return {name: round(value, 6) for name, value in zip(PHASES, parts, strict=True) if value > 0}


def summed(compiles: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the seconds of each part of all compiles together, the largest first.

    >>> summed([{"total": 5.0, "backend": 4.0}, {"total": 2.0}])
    {'backend': 4.0, 'dynamo': 3.0}
    """
    totals: dict[str, float] = {}
    for seconds in compiles:
        for name, value in phases(seconds).items():
            totals[name] = totals.get(name, 0.0) + value
    return dict(sorted(totals.items(), key=lambda part: -part[1]))


def duration(seconds: Mapping[str, float]) -> float:
    """Return the seconds of a compile, including its backward."""
    return sum(phases(seconds).values())
