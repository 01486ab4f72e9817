"""One look into a cache of compiled kernels. Torch's trace has no record of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from depyf.bytecode.records import dataclass

CPP, TRITON, TUNING = "cpp", "triton", "autotune"
"""The caches: C++ libraries, Triton's binaries, and the best configurations from tuning."""

LONGEST = 600.0
"""The longest compile of a kernel, in seconds. Files that are further apart come from several compiles."""


@dataclass(frozen=True, slots=True)
class KernelLook:
    """One look-up and its result.

    parts: the parts of the key, by name. seconds: the time that a miss cost, or a hit saved; 0 if unknown.
    """

    cache: str
    is_hit: bool
    key: str
    parts: Mapping[str, str]
    seconds: float = 0.0


Listener: TypeAlias = Callable[[Callable[[], KernelLook]], None]
"""Receives a function that makes a look, so that it can contain that function's errors. It must not raise."""


def seconds_between(files: Iterable[Path]) -> float:
    """Return the time in which one compile made the files; 0 if they come from several."""
    times = [file.stat().st_mtime for file in files if file.is_file()]
    took = max(times) - min(times) if times else 0.0
    return took if took < LONGEST else 0.0
