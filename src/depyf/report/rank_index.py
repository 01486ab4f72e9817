"""`index.md` of a job of several processes: what each rank compiled, and where the ranks differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_FOLDER = re.compile(r"rank_(\d+)$")

Facts = dict[str, str]
"""What is compared between ranks: a name of the fact, and what it is on one rank."""


def rank_index(directory: Path) -> str | None:
    """Return the page about all ranks that have written below `directory` so far, or None where there are none.

    Every rank writes the page anew when its context ends, so that the last one's is complete.
    """
    ranks = _indexes(directory)
    if not ranks:
        return None
    lines = ["# What torch.compile made, by rank", "", *_table(ranks), "", "## Where ranks differ", ""]
    apart = list(_apart({str(rank): facts(index) for rank, index in ranks.items()}))
    lines += apart or [f"Nowhere: the same functions, graphs, breaks and recompiles on {len(ranks)} ranks."]
    return "\n".join(lines) + "\n"


def _indexes(directory: Path) -> dict[int, dict[str, Any]]:
    found = {}
    for path in directory.glob("rank_*/index.json"):
        match = _FOLDER.search(path.parent.name)
        if match is not None:
            found[int(match[1])] = json.loads(path.read_text(encoding="utf-8"))
    return dict(sorted(found.items()))


def _table(ranks: dict[int, dict[str, Any]]) -> Iterator[str]:
    yield "| rank | compiles | functions | graph breaks | recompiles | given up | problems |"
    yield f"|{'---|' * 7}"
    for rank, index in ranks.items():
        compiles = [each for _, each in _compiles(index)]
        cells = [
            f"[{rank}](rank_{rank}/index.md)",
            str(len(compiles)),
            str(len(index["functions"])),
            str(sum(len(each["breaks"]) for each in compiles)),
            str(sum(each["trigger"]["kind"] == "recompile" for each in compiles)),
            str(sum(each["failure"] is not None for each in compiles)),
            str(len(index["problems"])),
        ]
        yield "| " + " | ".join(cells) + " |"


def _compiles(index: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each compile with the name of its function and the line it begins or goes on at."""
    for root in index["functions"]:
        for function in (root, *root["resume_functions"]):
            line = function.get("resumes_at") or function["line"]
            for each in function["compiles"]:
                yield f"{root['name']}, {function['file']}:{line}", each


def facts(index: dict[str, Any]) -> Facts:
    """Return what is told of a run and compared with others."""
    found: dict[str, list[str]] = {}
    for place, each in _compiles(index):
        stages = ", ".join(sorted({artefact["stage"] for artefact in each["artefacts"]}))
        found.setdefault(f"compiles of {place}", []).append(each["trigger"]["kind"])
        found.setdefault(f"operations of {place}", []).append(str(each["op_count"]))
        found.setdefault(f"guards of {place}", []).append(str(each["guard_count"]))
        found.setdefault(f"artefacts of {place}", []).append(stages or "none")
        for broken in each["breaks"]:
            found.setdefault(f"graph breaks in {place}", []).append(broken["reason"])
        if each["failure"] is not None:
            found.setdefault(f"{place} given up", []).append(each["failure"]["reason"])
    return {name: "; ".join(values) for name, values in found.items()}


def differences(told: dict[str, Facts]) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Yield each fact that is not the same for all, with the labels of those that have each value of it."""
    names = dict.fromkeys(name for each in told.values() for name in each)
    for name in names:
        values: dict[str, list[str]] = {}
        for label, each in told.items():
            values.setdefault(each.get(name, "none"), []).append(label)
        if len(values) > 1:
            yield name, values


def _apart(told: dict[str, Facts]) -> Iterator[str]:
    for name, values in differences(told):
        yield f"- {name}"
        for value, ranks in values.items():
            label = "rank" if len(ranks) == 1 else "ranks"
            yield f"  - {label} {', '.join(ranks)}: {' '.join(value.split())}"
