"""What the key of a cache entry was made from, as torch's record of a look into the cache holds it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from depyf.report.model import CacheEvent

HIT, MISS, BYPASS = "hit", "miss", "bypass"
"""How a look into a cache went."""
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
"""The caches of graphs; the others are of kernels, and of sizes."""

_COMPONENT = re.compile(r"\[(?P<digest>[a-z0-9]{20,})\] (?P<name>[^:]*): ?(?P<value>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Part:
    """A component of a key: its digest, which alone decides, and its value as torch prints it."""

    digest: str
    value: str


@dataclass(frozen=True, slots=True)
class Record:
    """One look into a cache: the key, its components by name, and what torch says of how it went.

    status: torch's word for how a miss came about, empty where it has none.
    seconds: what a miss cost to compile, or a hit saved.
    """

    key: str
    parts: Mapping[str, Part]
    status: str
    seconds: float


def cache_name(event: CacheEvent) -> str:
    """Return which cache a look was into, in words."""
    return NAMES.get(event.cache, event.cache)


def read_record(text: str) -> Record:
    """Return what a record says; one that is damaged, cut off, or of a torch that tells less has no parts."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = {}
    if not isinstance(told, dict):
        told = {}
    found: dict[str, Part] = {}
    last = ""
    for each in told.get("components") or ():
        match = _COMPONENT.match(str(each))
        if match is not None:
            last = match["name"]
            found[last] = Part(match["digest"], match["value"])
        elif last:  # Torch before 2.6 writes each line of a component as one.
            found[last] = Part(found[last].digest, f"{found[last].value}\n{each}")
    return Record(str(told.get("key") or ""), found, str(told.get("cache_status_detailed") or ""), _seconds(told))


def _seconds(told: Mapping[str, Any]) -> float:
    scales = {"time_saved_ns": 1e9, "time_taken_ns": 1e9, "time_saved_ms": 1e3}
    values = [(told.get(name), scale) for name, scale in scales.items()]
    return next((value / scale for value, scale in values if isinstance(value, (int, float)) and value), 0.0)
