"""What is compared between runs: short facts about each function, from the index of each run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from depyf.report.counts import BreakCount, break_count

Facts = dict[str, str]
"""A name of each fact, and what it is in one run."""


def compiles_of(index: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each compile with the name of its function and the line it begins or goes on at."""
    for root in index["functions"]:
        for function in (root, *root["resume_functions"]):
            line = function.get("resumes_at") or function["line"]
            for each in function["compiles"]:
                yield f"{root['name']}, {function['file']}:{line}", each


def places_of_breaks(compiled: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the place and the reason of each graph break of a compile."""
    return [(json.dumps(broken["where"]), broken["reason"]) for broken in compiled["breaks"]]


def breaks_told(compiles: Iterable[dict[str, Any]]) -> BreakCount:
    """Count the graph breaks of compiles of an index."""
    return break_count(place for each in compiles for place in places_of_breaks(each))


def _guard_count(compiled: dict[str, Any]) -> int | None:
    """Return how many guards the index has of a compile; torch's own number, in which some count twice, if none."""
    guards = compiled["guards"]
    return len(guards) if isinstance(guards, list) else compiled["guard_count"]


def facts(index: dict[str, Any]) -> Facts:
    """Return what is told of a run and compared with others."""
    found: dict[str, list[str]] = {}
    for place, each in compiles_of(index):
        stages = ", ".join(sorted({artefact["stage"] for artefact in each["artefacts"]}))
        found.setdefault(f"compiles of {place}", []).append(each["trigger"]["kind"])
        found.setdefault(f"operations of {place}", []).append(str(each["op_count"]))
        found.setdefault(f"guards of {place}", []).append(str(_guard_count(each)))
        found.setdefault(f"artefacts of {place}", []).append(stages or "none")
        for broken in each["breaks"]:
            found.setdefault(f"graph breaks in {place}", []).append(broken["reason"])
        if each["failure"] is not None:
            found.setdefault(f"{place} given up", []).append(each["failure"]["reason"])
    return {name: "; ".join(values) for name, values in found.items()}


def differences(told: dict[str, Facts]) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Yield each fact that is not the same in all runs, with the labels of those that have each value of it."""
    names = dict.fromkeys(name for each in told.values() for name in each)
    for name in names:
        values: dict[str, list[str]] = {}
        for label, each in told.items():
            values.setdefault(each.get(name, "none"), []).append(label)
        if len(values) > 1:
            yield name, values
