"""Link the lines of the program that torch writes to run a graph alone. It contains the graph again, without places.

before: the lowered graph has node `add` from line 12, and the program has
    def forward(self, primals_1):
        add = torch.ops.aten.add.Tensor(primals_1, 1)
        return (add,)
    def load_args(reader):
        buf0 = reader.storage(None, 40)
        reader.tensor(buf0, (10,))  # primals_1
after: `add` and the `return` are linked to line 12, and so are the last two lines, because line 12 uses `primals_1`
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from depyf.links.flow import flow
from depyf.links.graphs import NODE
from depyf.links.origins import NOWHERE, Links, Origins, joined

NOTE = "torch writes it for every graph that runs alone"
ANOTHER = "no recorded graph has the same nodes as the one in it"

_HEAD = re.compile(r"^\s*def forward\((?:self)?,?(?P<parameters>.*?)\)?:?\s*$")
_LOADED = re.compile(r"^    reader\.\w+\((?P<storage>buf\d+)?.*\)  # (?P<name>\w+)$")
_STORAGE = re.compile(r"^    (?P<storage>buf\d+) = reader\.storage\(")


def runnable_links(text: str, graphs: Iterable[tuple[str, Links]]) -> Links:
    """Return the origin of each line of the program; `graphs` are the candidates for its graph, with their links."""
    rows = text.splitlines()
    nodes = _nodes(rows)
    names = [name for name, _ in nodes]
    for graph, links in graphs:
        same = _nodes(graph.splitlines())
        if names and names == [name for name, _ in same]:
            origins = {
                name: links.of(number) for (_, name), (_, number) in zip(nodes, same, strict=True) if links.of(number)
            }
            if not origins:
                return Links({}, links.note)
            return Links({**origins, **_around(rows, nodes[-1][1] + 1, origins)}, NOTE)
    return Links({}, ANOTHER)


def _nodes(rows: list[str]) -> list[tuple[str, int]]:
    """Return the nodes of a graph with their lines, in order; none if it has nested graphs."""
    heads = [number for number, row in enumerate(rows, start=1) if row.lstrip().startswith("def forward(")]
    if len(heads) != 1:
        return []
    nodes = []
    for number, row in enumerate(rows[heads[0] :], start=heads[0] + 1):
        node = NODE.match(row)
        if row.lstrip().startswith("return "):
            break
        if node is not None:
            nodes.append((node["name"], number))
    return nodes


def _around(rows: list[str], returns: int, recorded: Mapping[int, Origins]) -> dict[int, Origins]:
    """Return the origins of the lines that return the results of nodes, or load their inputs."""
    through = flow("\n".join(rows[:returns]), recorded)
    head = next(match for match in map(_HEAD.match, rows) if match is not None)
    parameters = [name.strip() for name in head["parameters"].split(",")]
    needed = dict(zip(parameters, through.inputs, strict=False))
    return {**through.lines, **dict(_loads(rows, returns, needed))}


def _loads(rows: list[str], begin: int, needed: Mapping[str, Origins]) -> Iterator[tuple[int, Origins]]:
    stored: dict[str, Origins] = {}
    for number in range(len(rows), begin, -1):
        loaded, storage = _LOADED.match(rows[number - 1]), _STORAGE.match(rows[number - 1])
        if loaded is not None:
            origins = needed.get(loaded["name"], NOWHERE)
            stored[loaded["storage"]] = joined((stored.get(loaded["storage"], NOWHERE), origins))
        else:
            origins = stored.pop(storage["storage"], NOWHERE) if storage is not None else NOWHERE
        if origins:
            yield number, origins
