"""Which instructions of two codes do the same, as far as the proof has seen it, nested code included."""

from __future__ import annotations

from dataclasses import dataclass

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Listing
from depyf.bytecode.normalise import normalise
from depyf.verify.assumptions import NO_ASSUMPTIONS, Assumptions
from depyf.verify.bisimulate import bisimulate
from depyf.verify.exact import compare_paths
from depyf.verify.flow import Flow


@dataclass(frozen=True, slots=True)
class Paired:
    """Two codes, and by index of an instruction of the first one those of the second that do the same."""

    original: Listing
    candidate: Listing
    pairs: dict[int, set[int]]


def paired(original: Code, candidate: Code, assumptions: Assumptions = NO_ASSUMPTIONS) -> list[Paired]:
    """Return the pairs of instructions of two codes and of all code inside them.

    An instruction that the proof did not look at by itself belongs to the one before it. Where a proof fails, only
    what was seen until then is there. Raises `DecompilationError` for bytecode that cannot be read.
    """
    return [
        Paired(one.original, one.candidate, filled(one.pairs, len(one.original.instructions)))
        for one in seen_pairs(original, candidate, assumptions)
    ]


def seen_pairs(original: Code, candidate: Code, assumptions: Assumptions = NO_ASSUMPTIONS) -> list[Paired]:
    """Return the pairs of instructions that a proof looks at itself, of two codes and of all code inside them.

    Raises `DecompilationError` for bytecode that cannot be read.
    """
    found = []
    pending = [(original, candidate)]
    seen = {(id(original), id(candidate))}
    while pending:
        codes = pending.pop()
        listings = normalise(codes[0]), normalise(codes[1])
        flows = Flow(listings[0]), Flow(listings[1])
        result = compare_paths(*flows)
        if result.reason is not None:
            result = bisimulate(*flows, assumptions)
        found.append(Paired(*listings, by_first(result.pairs)))
        for pair in result.nested:
            identity = id(pair[0]), id(pair[1])
            if identity not in seen:
                seen.add(identity)
                pending.append(pair)
    return found


def by_first(pairs: set[tuple[int, int]]) -> dict[int, set[int]]:
    """Return pairs by the first index."""
    found: dict[int, set[int]] = {}
    for mine, its in pairs:
        if mine >= 0 and its >= 0:
            found.setdefault(mine, set()).add(its)
    return found


def filled(pairs: dict[int, set[int]], count: int) -> dict[int, set[int]]:
    """Return pairs by the first index; one that has none takes those of the index before it."""
    found = dict(pairs)
    for index in range(1, count):
        if index not in found and index - 1 in found:
            found[index] = found[index - 1]
    return found
