"""Find the line of a kernel that differs from the graph, without running anything.

before: `tmp3 = tmp1 - tmp2` in a kernel for the nodes `mul` (in `tmp1`), `exp` (in `tmp2`), and `add` of both
after: that line is the first that computes no node, and `add` the first node that no line computes
"""

from __future__ import annotations

from collections.abc import Iterator

from depyf.bytecode.records import dataclass
from depyf.links.inductor.evaluate import is_view
from depyf.links.inductor.graph import Graph, Node
from depyf.links.inductor.line import Launched, Line


@dataclass(frozen=True, slots=True)
class Suspect:
    """A line that computes no node, and the missing node in its place, or ""."""

    line: Line
    node: str


def suspects(found: Launched, graph: Graph) -> Iterator[Suspect]:
    """Yield the lines of a launch that compute something but no node, in order.

    This includes lines that depyf does not understand. Only running the kernel shows whether it is wrong.
    """
    used: set[str] = set()
    for line in found.lines:
        used.update(line.names)
    # A line that contributes to no result, such as the start of an accumulator, is not suspect.
    open_ones = [each for each in found.lines if not each.nodes and (each.is_store or set(each.targets) & used)]
    yield from (Suspect(each, asked_for(each, found, graph)) for each in open_ones if each.computes_something)


def suspect(found: Launched, graph: Graph) -> Suspect | None:
    """Return the first line of a launch that computes no node, or None."""
    return next(suspects(found, graph), None)


def asked_for(line: Line, found: Launched, graph: Graph) -> str:
    """Return the node with the operands of a line.

    Of several nodes it is one that no line computes, that is a comparison if the line is, and that uses the line's
    numbers.
    """
    terms, operands = found.terms, held_by(line, found)
    computed = {name for each in found.lines for name in (*each.computes, *each.parts)}
    own = {*(found.nodes or graph.nodes)} & terms.keys()
    computing = [each for each in graph.nodes.values() if each.name in own and each.dtype and not is_view(each)]
    same = [each for each in computing if operands and _operands(each, found, graph) == operands]
    # A mean is a step of a variance. A value with fewer steps has the lower term.
    same.sort(key=lambda node: terms[node.name])
    is_truth = line.statement.gives_truths
    for alike in (
        lambda node: node.name not in computed,
        lambda node: (node.dtype == "b8") == is_truth,
        lambda node: node.numbers == line.numbers,
    ):
        same = list(filter(alike, same)) or same
    return same[0].name if same else _continued(line, found)


def _continued(line: Line, found: Launched) -> str:
    """Return the node whose steps precede a line, or ""."""
    earlier = found.lines[: found.lines.index(line)][::-1]
    steps = [each for each in earlier if set(each.targets) & set(line.names) and each.serves and each.term is not None]
    steps.sort(key=lambda each: (not each.step, not each.computes_something))
    return steps[0].step or steps[0].serves[0] if steps else ""


def held_by(taker: Line, found: Launched) -> set[int]:
    """Return the terms of the nodes in the variables that a line uses, directly or through known steps."""
    held, values = set[int](), set(found.terms.values())
    pending = [(name, found.lines.index(taker)) for name in taker.names]
    while pending:
        wanted, end = pending.pop()
        wanted = found.aliases.get(wanted, wanted)
        places = (place for place in reversed(range(end)) if wanted in _set_by(found.lines[place], found))
        place = next(places, None)
        line = found.lines[place] if place is not None else None
        if line is None or place is None:
            continue
        if line.term in values:
            held.add(line.term)
        elif line.step:
            pending += [(each, place) for each in line.names]
    return held


def _set_by(line: Line, found: Launched) -> list[str]:
    """Return the variables, or the memory of pointers, that a line writes."""
    return [found.aliases.get(pointer, pointer) for pointer in (line.pointers if line.is_store else line.targets)]


def _operands(node: Node, found: Launched, graph: Graph) -> set[int]:
    """Return the terms of a node's operands, without numbers. An item of several results has the operands of these."""
    source = graph.nodes.get(node.uses[0]) if node.operation == "getitem" and node.uses else None
    return {found.terms[use] for use in (source or node).uses if use in found.terms}
