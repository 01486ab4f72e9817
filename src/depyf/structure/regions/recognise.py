"""Recognise every protected region of a graph and take the compiler's bookkeeping out."""

from __future__ import annotations

from dataclasses import dataclass, field

from depyf.lift.tac import Graph, Return
from depyf.structure.regions import finally_, names, with_
from depyf.structure.regions.table import Kind, Regions, prune


@dataclass(slots=True)
class Recognised:
    """The regions that are left, and what is known of them by handler.

    harmless: blocks that cannot raise and end in a return.
    """

    regions: Regions
    withs: dict[int, with_.With] = field(default_factory=dict)
    finallys: set[int] = field(default_factory=set)
    harmless: set[int] = field(default_factory=set)


def recognise(graph: Graph) -> Recognised:
    """Strip the regions of a graph, innermost first, and say what each is."""
    recognised = Recognised(Regions(graph))
    regions = recognised.regions
    for region in list(regions.regions):
        if region.handler not in regions.parent:
            continue
        match region.kind:
            case Kind.NAME:
                names.strip(regions, region)
            case Kind.WITH:
                found = with_.strip(regions, region)
                if found is not None:
                    recognised.withs[region.handler] = found
            case Kind.FINALLY:
                if finally_.strip(regions, region):
                    recognised.finallys.add(region.handler)
            case _:
                pass
        prune(graph)
    return recognised


HARMLESS = frozenset({"CONST", "LOAD_FAST", "POP", "POP_EXCEPT", "MOVE"})


def harmless_returns(graph: Graph) -> set[int]:
    """Return the blocks that cannot raise and end in a return."""
    return {
        block.index
        for block in graph.live()
        if isinstance(block.exit, Return) and all(inst.op in HARMLESS for inst in block.insts)
    }
