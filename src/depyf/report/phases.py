"""Where the time of a compile went, in parts that add up: torch's own numbers lie one inside the other."""

from __future__ import annotations

from collections.abc import Mapping

KERNELS = "kernel compilers"
"""Seconds in which kernels were compiled and loaded, the whole of it; `Triton compiler` is a part."""
TRITON = "Triton compiler"
PHASES = ("dynamo", "AOTAutograd", "Inductor", "code generation", "backward", "C++ compiler", "Triton compiler")
"""The parts, in the order in which they come; those of other compilers last, whichever graph they were for."""


def phases(seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the seconds of each part, those that took none left out.

    >>> phases({"total": 5.0, "backend": 4.0, "inductor": 3.0, "code generation": 1.0})
    {'dynamo': 1.0, 'AOTAutograd': 1.0, 'Inductor': 2.0, 'code generation': 1.0}
    >>> phases({"total": 5.0, "backend": 5.0, "inductor": 5.0, "code generation": 4.0, "kernel compilers": 3.0})
    {'Inductor': 1.0, 'code generation': 1.0, 'C++ compiler': 3.0}
    """
    total = seconds.get("total", 0.0)
    backend = min(seconds.get("backend", 0.0), total)
    inductor = min(seconds.get("inductor", 0.0), backend)
    generation = min(seconds.get("code generation", 0.0), inductor)
    backward = seconds.get("backward total", seconds.get("backward inductor", 0.0))
    kernels = min(seconds.get(KERNELS, 0.0), generation)
    of_backward = min(seconds.get(f"backward {KERNELS}", 0.0), backward)
    triton = min(seconds.get(TRITON, 0.0) + seconds.get(f"backward {TRITON}", 0.0), kernels + of_backward)
    parts = (
        *(total - backend, backend - inductor, inductor - generation, generation - kernels, backward - of_backward),
        *(kernels + of_backward - triton, triton),
    )
    return {name: round(value, 6) for name, value in zip(PHASES, parts, strict=True) if value > 0}


def duration(seconds: Mapping[str, float]) -> float:
    """Return the seconds of a compile, its backward included."""
    return sum(phases(seconds).values())
