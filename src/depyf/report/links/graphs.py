"""Lines of a graph: torch's printer says above each run of nodes which line of the user's they came from.

before:
    # File: train.py:15 in forward, code: q = self.q(self.norm(x))
    layer_norm = torch.nn.functional.layer_norm(x, ...)
    linear = torch._C._nn.linear(layer_norm, ...)
after: both lines came from line 15
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from depyf.report.links.flow import flow
from depyf.report.links.origins import Links, Origin, Origins, joined

NOTE = "torch tells no line of yours for it, and no node with one needs it"

_PLACE = re.compile(r"^\s*# File: (?P<file>.*?):(?P<line>\d+) in ")
_NOTHING_KNOWN = "# No stacktrace found for following nodes"
_NODE = re.compile(r"^\s+(?P<name>[A-Za-z_]\w*)\s*(?::[^=]*?)?\s=\s")


def graph_links(text: str, names: Mapping[str, str]) -> Links:
    """Return where each line of a graph came from; `names` are those of the index for the files that it names."""
    lines: dict[int, Origins] = {}
    current: Origin | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        place = _PLACE.match(line)
        stripped = line.strip()
        if place is not None:
            current = (names.get(place["file"], place["file"]), int(place["line"]))
        elif stripped == _NOTHING_KNOWN or stripped.startswith(("def ", "class ", "return")):
            current = None
        if current is not None and stripped:
            lines[number] = frozenset((current,))
    return Links({**flow(text, lines).lines, **lines}, NOTE)


def node_origins(text: str, links: Links) -> dict[str, Origins]:
    """Return where each node of a graph came from, by its name."""
    found: dict[str, Origins] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        node = _NODE.match(line)
        if node is not None and links.of(number):
            found[node["name"]] = joined((found.get(node["name"], frozenset()), links.of(number)))
    return found
