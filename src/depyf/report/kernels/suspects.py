"""The line of a kernel that does not compute what the graph asks for, found without running anything.

before: `tmp3 = tmp1 - tmp2` in a kernel for the nodes `mul` (held by `tmp1`), `exp` (held by `tmp2`), and `add` of both
after: that line is the first that is there for no node, and `add` the first node that no line computes
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from depyf.report.kernels.evaluate import is_view
from depyf.report.kernels.graph import Graph, Node
from depyf.report.kernels.lines import Launched, Line


@dataclass(frozen=True, slots=True)
class Suspect:
    """A line that computes what no node does, and the node that is missing where its place is; empty if none is."""

    line: Line
    node: str


def suspects(found: Launched, graph: Graph) -> Iterator[Suspect]:
    """Yield the lines of a launch that compute something and are there for no node, in order.

    A line that depyf does not understand is one, too: whether the kernel is wrong is seen when it is run.
    """
    used: set[str] = set()
    for line in found.lines:
        used.update(line.names)
    # What reaches no result at all, as the beginning of an accumulator may, says nothing.
    open_ones = [each for each in found.lines if not each.nodes and (each.is_store or set(each.targets) & used)]
    yield from (Suspect(each, asked_for(each, found, graph)) for each in open_ones if each.computes_something)


def suspect(found: Launched, graph: Graph) -> Suspect | None:
    """Return the first line of a launch that is there for no node, or None where all are there for some."""
    return next(suspects(found, graph), None)


def asked_for(line: Line, found: Launched, graph: Graph) -> str:
    """Return the node that takes what a line takes: of several the first that no line computes."""
    operands = {node for name in line.names for node in _held_by(name, line, found)}
    computed = {name for each in found.lines for name in each.computes}
    own = set(found.nodes) or set(graph.nodes)
    computing = [each for each in graph.nodes.values() if each.operation and not is_view(each) and each.name in own]
    same = [each.name for each in computing if _operands(each, graph) == operands]
    missing = next((each for each in same if each not in computed), same[0] if same else "")
    return missing or _continued(line, found)


def _continued(line: Line, found: Launched) -> str:
    """Return the node that the steps before a line are inside of; empty where none are."""
    earlier = found.lines[: found.lines.index(line)][::-1]
    steps = [each for each in earlier if set(each.targets) & set(line.names) and each.serves and each.term is not None]
    steps.sort(key=lambda each: (not each.step, not each.computes_something))
    return steps[0].step or steps[0].serves[0] if steps else ""


def _held_by(name: str, before: Line, found: Launched) -> tuple[str, ...]:
    """Return the node whose result a variable holds where a line takes it, through copies and memory; none if none."""
    earlier = found.lines[: found.lines.index(before)]
    while earlier:
        line = earlier.pop()
        set_here = line.pointers if line.is_store else line.targets
        if found.aliases.get(name, name) not in [found.aliases.get(each, each) for each in set_here]:
            continue
        if line.computes:
            return line.computes[:1]
        given = [found.before[each] for each in line.names if found.before.get(each)]
        inner = [each for each in line.names if each.startswith(("tmp", "local_buffer")) or "_ptr" in each]
        if given or not inner:
            return tuple(given[:1])
        name = inner[0]
    return ()


def _operands(node: Node, graph: Graph) -> set[str]:
    """Return the nodes that another takes, without views."""
    return {_origin(each, graph) for each in node.uses if each in graph.nodes}


def _origin(name: str, graph: Graph) -> str:
    """Return the node that another is a view of."""
    node = graph.nodes.get(name)
    while node is not None and node.operation and is_view(node) and node.uses:
        node = graph.nodes.get(node.uses[0])
    return node.name if node is not None else name
