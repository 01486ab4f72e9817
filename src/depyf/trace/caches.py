"""What torch writes of a look into one of its caches."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from depyf.report.model import Artefact, CacheEvent
from depyf.trace.stages import CACHES

_COMPONENT = re.compile(r"\[(?P<digest>[a-z0-9]{20,})\] (?P<name>[^:]*): ?(?P<text>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class CacheComponent:
    """A part of what a cache's key was made from: its name, its digest, and its value as torch prints it."""

    name: str
    digest: str
    text: str


def cache_event(kind: str, artefact: Artefact) -> CacheEvent:
    """Return the look into a cache that a record of `kind` is about; `artefact` holds the record's payload."""
    cache, outcome = CACHES[kind]
    told = _content(artefact.text)
    saved = told.get("time_saved_ms") or told.get("time_saved_ns", 0) / 1e6 if _is_number(told) else 0.0
    return CacheEvent(
        cache, outcome, str(told.get("key") or ""), str(told.get("cache_bypass_reason") or ""), saved / 1000, artefact
    )


def components(text: str) -> tuple[CacheComponent, ...]:
    """Return what the key of a cache was made from, in torch's order; `text` is its record of a look into the cache.

    Torch before 2.6 writes a line of a component as a component; these are joined again.
    """
    found: list[CacheComponent] = []
    for each in _content(text).get("components") or ():
        match = _COMPONENT.match(str(each))
        if match is not None:
            found.append(CacheComponent(match["name"], match["digest"], match["text"]))
        elif found:
            last = found.pop()
            found.append(CacheComponent(last.name, last.digest, f"{last.text}\n{each}"))
    return tuple(found)


def _content(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_number(told: dict[str, Any]) -> bool:
    values = (told.get("time_saved_ms") or 0, told.get("time_saved_ns") or 0)
    return all(isinstance(value, (int, float)) for value in values)
