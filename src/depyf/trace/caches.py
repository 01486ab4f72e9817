"""Parse torch's records of cache lookups."""

from __future__ import annotations

import json
from typing import Any

from depyf.model.run import Artefact, CacheEvent, Compile, CompileId
from depyf.trace.stages import CACHES, PGO


def cache_event(kind: str, artefact: Artefact) -> CacheEvent:
    """Return the lookup that a record of `kind` describes; `artefact` holds the record's payload."""
    cache, outcome = CACHES.get(kind, (PGO, "miss"))
    content = _content(artefact.text)
    saved = content.get("time_saved_ms") or content.get("time_saved_ns", 0) / 1e6 if _is_number(content) else 0.0
    return CacheEvent(
        cache,
        outcome,
        str(content.get("key") or ""),
        str(content.get("cache_bypass_reason") or ""),
        saved / 1000,
        artefact,
    )


def has_read_no_sizes(compiled: Compile) -> bool:
    """Return whether torch had no sizes from an earlier run. It would have recorded them by now, in the very first
    compile.
    """
    return compiled.id == CompileId(0, 0) and all(cache.cache != PGO for cache in compiled.caches)


def _content(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _is_number(content: dict[str, Any]) -> bool:
    values = (content.get("time_saved_ms") or 0, content.get("time_saved_ns") or 0)
    return all(isinstance(value, (int, float)) for value in values)
