"""The data of the page of costs for a profiled process: one step on an axis, source as a heat map, and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from depyf.links.blocks import Block, blocks
from depyf.links.documents import CAPTURED
from depyf.links.profile.charges import BACKWARD, WORDS
from depyf.links.profile.files import read_profile
from depyf.links.profile.units import Sources
from depyf.model.index_reader import Run
from depyf.views.html.function_data import entry_key

MOST_PIECES = 2000
"""The most stretches of a step that the axis shows. Shorter ones are joined with their neighbours."""

_SHOWN = ("step", "kinds", "lines", "functions", "modules", "findings", "notes")

Json = dict[str, Any]


def costs_data(run: Run, addresses: Mapping[str, str]) -> Json | None:
    """Return the data of the page, or None for a run without a profile; `addresses` are the functions' pages by key."""
    profile = read_profile(run.directory)
    if profile is None or not profile["step"]["steps"]:
        return None
    pages = {
        str(compiled.id.of_torch): f"{addresses[function.root]}/{entry_key(compiled)}"
        for function, compiled in run.session.compiles()
        if function.root in addresses
    }
    return {
        **{key: profile[key] for key in _SHOWN},
        "against_eager": profile.get("against_eager", []),
        "kernels": [kernel | {"shown": _shown_in(kernel)} for kernel in profile["kernels"]],
        "words": WORDS,
        "timeline": _shortened(profile["timeline"]),
        "pages": pages,
        "blocks": _blocks(run, profile["lines"]),
    }


def _shown_in(kernel: Json) -> str:
    """Return the key of the text that shows a kernel on its function's page."""
    if any(".kernel_" not in call["dump"] for call in kernel["calls"]):
        return CAPTURED.lower()
    return "kernel-backward" if kernel["kind"] == BACKWARD else "kernel"


def _shortened(timeline: list[Json]) -> list[Json]:
    """Return at most `MOST_PIECES` stretches; of a longer list, those that last longest."""
    if len(timeline) <= MOST_PIECES:
        return timeline
    least = sorted(stretch["end"] - stretch["start"] for stretch in timeline)[-MOST_PIECES]
    return [stretch for stretch in timeline if stretch["end"] - stretch["start"] >= least]


def _blocks(run: Run, lines: list[Json]) -> list[Json]:
    """Return the functions that contain lines with a cost, most expensive first."""
    places: dict[str, set[int]] = {}
    cost: dict[tuple[str, int], float] = {}
    for row in lines:
        for place in row["set"] or [row]:
            places.setdefault(place["file"], set()).add(place["line"])
            key = place["file"], place["line"]
            cost[key] = cost.get(key, 0.0) + row["seconds"]
    blocks_with_cost = []
    sources = Sources(run)
    for file, numbers in places.items():
        for block in blocks(file, sources.text(file), numbers):
            seconds = sum(value for (name, line), value in cost.items() if name == file and _holds(block, line))
            content = {"file": file, "first": block.first, "name": block.name, "text": block.text}
            blocks_with_cost.append((seconds, content))
    return [content for _, content in sorted(blocks_with_cost, key=lambda pair: -pair[0])]


def _holds(block: Block, line: int) -> bool:
    return block.first <= line <= block.last
