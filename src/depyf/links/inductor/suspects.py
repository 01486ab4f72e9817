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


def suspects(launched: Launched, graph: Graph) -> Iterator[Suspect]:
    """Yield the lines of a launch that compute something but no node, in order.

    This includes lines that depyf does not understand. Only running the kernel shows whether it is wrong.
    """
    used: set[str] = set()
    for line in launched.lines:
        used.update(line.names)
    # A line that contributes to no result, such as the start of an accumulator, is not suspect.
    open_ones = [line for line in launched.lines if not line.nodes and (line.is_store or set(line.targets) & used)]
    yield from (Suspect(line, asked_for(line, launched, graph)) for line in open_ones if line.computes_something)


def suspect(launched: Launched, graph: Graph) -> Suspect | None:
    """Return the first line of a launch that computes no node, or None."""
    return next(suspects(launched, graph), None)


def asked_for(line: Line, launched: Launched, graph: Graph) -> str:
    """Return the node with the operands of a line.

    Of several nodes it is one that no line computes, that is a comparison if the line is, and that uses the line's
    numbers.

    Args:
        line: a line of the kernel whose term is no node's.
        launched: the launch, with the terms of the nodes.
        graph: the lowered graph.
    """
    terms, operands = launched.terms, held_by(line, launched)
    computed = {name for other in launched.lines for name in (*other.computes, *other.parts)}
    candidates = {*(launched.nodes or graph.nodes)} & terms.keys()
    computing = [node for node in graph.nodes.values() if node.name in candidates and node.dtype and not is_view(node)]
    same = [node for node in computing if operands and _operands(node, launched, graph) == operands]
    # A mean is a step of a variance. A value with fewer steps has the lower term.
    same.sort(key=lambda node: terms[node.name])
    is_truth = line.statement.gives_truths
    for alike in (
        lambda node: node.name not in computed,
        lambda node: (node.dtype == "b8") == is_truth,
        lambda node: node.numbers == line.numbers,
    ):
        same = list(filter(alike, same)) or same
    return same[0].name if same else _continued(line, launched)


def _continued(line: Line, launched: Launched) -> str:
    """Return the node whose steps precede a line, or ""."""
    earlier = launched.lines[: launched.lines.index(line)][::-1]
    steps = [
        other for other in earlier if set(other.targets) & set(line.names) and other.serves and other.term is not None
    ]
    steps.sort(key=lambda step: (not step.step, not step.computes_something))
    return steps[0].step or steps[0].serves[0] if steps else ""


def held_by(taker: Line, launched: Launched) -> set[int]:
    """Return the terms of the nodes in the variables that a line uses, directly or through known steps."""
    held, values = set[int](), set(launched.terms.values())
    pending = [(name, launched.lines.index(taker)) for name in taker.names]
    while pending:
        wanted, end = pending.pop()
        wanted = launched.aliases.get(wanted, wanted)
        places = (place for place in reversed(range(end)) if wanted in _set_by(launched.lines[place], launched))
        place = next(places, None)
        line = launched.lines[place] if place is not None else None
        if line is None or place is None:
            continue
        if line.term in values:
            held.add(line.term)
        elif line.step:
            pending += [(name, place) for name in line.names]
    return held


def _set_by(line: Line, launched: Launched) -> list[str]:
    """Return the variables, or the memory of pointers, that a line writes."""
    return [launched.aliases.get(pointer, pointer) for pointer in (line.pointers if line.is_store else line.targets)]


def _operands(node: Node, launched: Launched, graph: Graph) -> set[int]:
    """Return the terms of a node's operands, without numbers. An item of several results has the operands of these."""
    source = graph.nodes.get(node.uses[0]) if node.operation == "getitem" and node.uses else None
    return {launched.terms[use] for use in (source or node).uses if use in launched.terms}
