"""Link the lines of a graph. torch's printer writes the user's line above each run of nodes that came from it.

before:
    # File: train.py:15 in forward, code: q = self.q(self.norm(x))
    layer_norm = torch.nn.functional.layer_norm(x, ...)
    linear = torch._C._nn.linear(layer_norm, ...)
after: both lines are linked to line 15
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from depyf.links.flow import flow
from depyf.links.moved import moved_places, same_files
from depyf.links.origins import Links, Origin, Origins, joined
from depyf.model.artifacts.graph_source import SAYS_PLACE

NOTE = "torch records no line of yours for it, and no linked node uses it"

STALE = (
    "it comes from a cache that another program, or another state of this one, has filled: its places are not yours. "
    "With TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 they are"
)

_PLACE = re.compile(rf"^\s*{SAYS_PLACE}(?P<file>.*?):(?P<line>\d+) in .*?, code: (?P<code>.*)$")
_NOTHING_KNOWN = re.compile(r"^\s*# .*No stacktrace found for following nodes$")
NODE = re.compile(r"^\s+(?P<name>[A-Za-z_]\w*)\s*(?::[^=]*?)?\s=\s")
"""A line that defines a node of a graph."""

_CLASS = re.compile(r"^(?P<indent>\s*)class (?P<name>\w+)\(")

Places = Mapping[Origin, str]
"""The user's lines that a graph names, each with the code that it quotes."""


def graph_places(text: str, names: Mapping[str, str]) -> Places:
    """Return the places that a graph names; `names` are the index's names for its files."""
    matches = (_PLACE.match(line) for line in text.splitlines() if " File: " in line)
    return {_origin(place, names): place["code"].strip() for place in matches if place is not None}


def graph_links(text: str, names: Mapping[str, str], captured: Places | None = None) -> Links:
    """Return the origin of each line of a graph.

    Args:
        text: the printed graph, with torch's comments.
        names: the index's names of files.
        captured: the places of the graph that Dynamo captured in this run. A later stage that names other places of the
            same file, or none of these, comes from a cache; its lines may have moved since.
    """
    moved = moved_since(text, names, captured) if captured is not None else {}
    if moved is None:
        return Links({}, STALE)
    lines: dict[int, Origins] = {}
    current: Origin | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        place = _PLACE.match(line) if " File: " in line else None
        stripped = line.strip()
        is_unknown = stripped.startswith("#") and _NOTHING_KNOWN.match(line) is not None
        if place is not None:
            named = _origin(place, names)
            current = moved.get(named, named)
        elif is_unknown or stripped.startswith(("def ", "class ", "return")):
            current = None
        if current is not None and stripped:
            lines[number] = frozenset((current,))
    return Links({**flow(text, lines).lines, **lines}, NOTE)


def moved_since(text: str, names: Mapping[str, str], captured: Places) -> Mapping[Origin, Origin] | None:
    """Return the current places for the places in a graph: {} if the graph's are current, None if unknown.

    Args:
        text: the printed graph, with torch's comments.
        names: the index's names of files.
        captured: the places of the graph that Dynamo captured in this run.
    """
    places = graph_places(text, names)
    return moved_places(places, captured) if is_stale(places, captured) else {}


def is_stale(places: Places, captured: Places) -> bool:
    """Return whether places cannot belong to the captured graph."""
    if not places or not captured:
        return False
    files = same_files(places, captured)
    agreed = [place for place, code in places.items() if captured.get(place) == code]
    return not agreed or any(place[0] in files and captured.get(place) != code for place, code in places.items())


def _origin(place: re.Match[str], names: Mapping[str, str]) -> Origin:
    return names.get(place["file"], place["file"]), int(place["line"])


def node_origins(text: str, links: Links) -> dict[str, Origins]:
    """Return the origins of each node of a graph, by its name.

    A nested graph has the origins of its nodes. Its nodes are listed by name only if the names are unique.
    """
    outermost: dict[str, Origins] = {}
    inside: dict[str, Origins] = {}
    classes: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        begins, node = _CLASS.match(line), NODE.match(line)
        if begins is not None:
            indent = len(begins["indent"])
            classes = [entry for entry in classes if entry[0] < indent] + [(indent, begins["name"])]
        elif node is not None and links.of(number):
            is_inside = len(classes) > 1
            origins_here = inside if is_inside else outermost
            for name in (node["name"], classes[-1][1]) if is_inside else (node["name"],):
                origins_here[name] = joined((origins_here.get(name, frozenset()), links.of(number)))
    graphs = {name for _, name in _graphs(text)}
    for name, origins in inside.items():
        if name not in outermost:
            outermost[name] = origins
        elif name in graphs:
            outermost[name] = joined((outermost[name], origins))
    return outermost


def _graphs(text: str) -> list[tuple[str, str]]:
    """Return the indentation and the name of each graph in a text."""
    return [(head["indent"], head["name"]) for head in map(_CLASS.match, text.splitlines()) if head is not None]
