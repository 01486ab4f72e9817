"""Parse the components of a cache key from torch's record of a lookup."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.model.run import CacheEvent

HIT, MISS, BYPASS = "hit", "miss", "bypass"
"""The outcomes of a lookup."""
PGO = "pgo"
NAMES = {
    "fx_graph": "FX graph cache",
    "aotautograd": "AOTAutograd cache",
    PGO: "PGO cache of sizes that varied",
    "cpp": "cache of C++ libraries",
    "triton": "Triton's cache of binaries",
    "autotune": "cache of tuned configurations",
}
GRAPHS = frozenset({"fx_graph", "aotautograd"})
"""The caches of graphs. The others hold kernels and sizes."""

_COMPONENT = re.compile(r"\[(?P<digest>[a-z0-9]{20,})\] (?P<name>[^:]*): ?(?P<value>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Part:
    """A component of a key: its digest, which alone decides, and its value as torch prints it."""

    digest: str
    value: str


@dataclass(frozen=True, slots=True)
class Record:
    """One lookup in a cache: the key, its components by name, and torch's report on the outcome.

    status: torch's word for the reason of a miss, or "".
    seconds: the compile time of a miss, or the time that a hit saved.
    """

    key: str
    parts: Mapping[str, Part]
    status: str
    seconds: float


def cache_name(event: CacheEvent) -> str:
    """Return a readable name of the cache."""
    return NAMES.get(event.cache, event.cache)


def read_record(text: str) -> Record:
    """Return the content of a record. A record that is damaged, truncated, or from an older torch has no parts."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = {}
    if not isinstance(data, dict):
        data = {}
    parts: dict[str, Part] = {}
    last = ""
    for component in data.get("components") or ():
        match = _COMPONENT.match(str(component))
        if match is not None:
            last = match["name"]
            parts[last] = Part(match["digest"], match["value"])
        elif last:  # torch before 2.6 writes each line of a component separately.
            parts[last] = Part(parts[last].digest, f"{parts[last].value}\n{component}")
    return Record(str(data.get("key") or ""), parts, str(data.get("cache_status_detailed") or ""), _seconds(data))


def _seconds(data: Mapping[str, Any]) -> float:
    scales = {"time_saved_ns": 1e9, "time_taken_ns": 1e9, "time_saved_ms": 1e3}
    values = [(data.get(name), scale) for name, scale in scales.items()]
    return next((value / scale for value, scale in values if isinstance(value, (int, float)) and value), 0.0)
