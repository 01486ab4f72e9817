"""The instructions of two codes that the proof has paired, nested code included."""

from __future__ import annotations

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Listing
from depyf.bytecode.normalise import normalise
from depyf.bytecode.records import dataclass
from depyf.verify.assumptions import NO_ASSUMPTIONS, Assumptions
from depyf.verify.bisimulate import bisimulate
from depyf.verify.exact import compare_paths
from depyf.verify.flow import Flow


@dataclass(frozen=True, slots=True)
class Paired:
    """Two codes, and for each instruction of the first the equivalent instructions of the second, by index."""

    original: Listing
    candidate: Listing
    pairs: dict[int, set[int]]


def paired(original: Code, candidate: Code, assumptions: Assumptions = NO_ASSUMPTIONS) -> list[Paired]:
    """Return the pairs of instructions of two codes and of their nested code.

    An instruction that the proof did not examine separately belongs to the one before it. If a proof fails, only the
    pairs until then are returned. Raises `DecompilationError` for unreadable bytecode.

    Args:
        original: the original code.
        candidate: the code compiled from the source.
        assumptions: what is known about globals.
    """
    return [
        Paired(seen_pair.original, seen_pair.candidate, filled(seen_pair.pairs, len(seen_pair.original.instructions)))
        for seen_pair in seen_pairs(original, candidate, assumptions)
    ]


def seen_pairs(original: Code, candidate: Code, assumptions: Assumptions = NO_ASSUMPTIONS) -> list[Paired]:
    """Return the pairs of instructions that the proof itself examines, of two codes and of their nested code.

    Raises `DecompilationError` for unreadable bytecode.

    Args:
        original: the original code.
        candidate: the code compiled from the source.
        assumptions: what is known about globals.
    """
    pairs = []
    pending = [(original, candidate)]
    seen = {(id(original), id(candidate))}
    while pending:
        codes = pending.pop()
        listings = normalise(codes[0]), normalise(codes[1])
        flows = Flow(listings[0]), Flow(listings[1])
        result = compare_paths(*flows)
        if result.reason is not None:
            result = bisimulate(*flows, assumptions)
        pairs.append(Paired(*listings, by_first(result.pairs)))
        for pair in result.nested:
            identity = id(pair[0]), id(pair[1])
            if identity not in seen:
                seen.add(identity)
                pending.append(pair)
    return pairs


def by_first(pairs: set[tuple[int, int]]) -> dict[int, set[int]]:
    """Return pairs by the first index."""
    by_mine: dict[int, set[int]] = {}
    for mine, its in pairs:
        if mine >= 0 and its >= 0:
            by_mine.setdefault(mine, set()).add(its)
    return by_mine


def filled(pairs: dict[int, set[int]], count: int) -> dict[int, set[int]]:
    """Return pairs by the first index; an instruction without pairs takes those of the instruction before it."""
    complete = dict(pairs)
    for index in range(1, count):
        if index not in complete and index - 1 in complete:
            complete[index] = complete[index - 1]
    return complete
