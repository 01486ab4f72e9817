"""One look into a cache of compiled kernels. Torch's trace has no record of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

CPP, TRITON, TUNING = "cpp", "triton", "autotune"
"""The caches: C++ libraries, Triton's binaries, and the configurations that tuning has found best."""

LONGEST = 600.0
"""Seconds that a kernel takes to compile at most; files that are further apart were not made by one compile."""


@dataclass(frozen=True, slots=True)
class KernelLook:
    """What was looked for, and whether it was there.

    parts: what the key was made from, by name. seconds: what a miss cost, or a hit saved; 0 where that is not known.
    """

    cache: str
    is_hit: bool
    key: str
    parts: Mapping[str, str]
    seconds: float = 0.0


Listener: TypeAlias = Callable[[Callable[[], KernelLook]], None]
"""Is given what makes a look, so that it can contain what fails there. It must not raise."""


def seconds_between(files: Iterable[Path]) -> float:
    """Return the time in which files were made that one compile has made; 0 where it was not one."""
    times = [each.stat().st_mtime for each in files if each.is_file()]
    took = max(times) - min(times) if times else 0.0
    return took if took < LONGEST else 0.0
