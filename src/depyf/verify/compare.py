"""The verdict on a candidate: EXACT if possible, else EQUIVALENT, else UNPROVEN."""

from __future__ import annotations

from depyf.bytecode.code import Code
from depyf.bytecode.docstring import docstring
from depyf.bytecode.host import pausing
from depyf.bytecode.listings import Listings
from depyf.bytecode.normalise import normalise
from depyf.bytecode.versions.known import facts_of
from depyf.verify.assumptions import NO_ASSUMPTIONS, Assumptions
from depyf.verify.bisimulate import bisimulate
from depyf.verify.exact import Comparison, compare_paths
from depyf.verify.flow import Flow
from depyf.verify.frame_readers import reads_frame, shows_in_one_order
from depyf.verify.header import difference, nested_difference
from depyf.verify.level import Level, Verdict
from depyf.verify.same import nested_if_same


@pausing
def verify(
    original: Code, candidate: Code, assumptions: Assumptions = NO_ASSUMPTIONS, listings: Listings | None = None
) -> Verdict:
    """Prove that `candidate` does what `original` does, nested code included.

    The verdict has the weakest level of all pieces of code. Nothing is run. Raises `DecompilationError` for unreadable
    bytecode.

    Args:
        original: the original code.
        candidate: the code compiled from the source.
        assumptions: what is known about globals.
        listings: the listings of an earlier proof about some of the code.
    """
    listings = Listings() if listings is None else listings
    weakest = Verdict(Level.EXACT)
    pending = [(original, candidate)]
    seen = {(id(original), id(candidate))}
    top = True
    while pending:
        mine, its = pending.pop()
        verdict, nested = verify_one(mine, its, assumptions, listings, top=top)
        top = False
        if verdict.level < weakest.level:
            weakest = verdict
        if verdict.level is Level.UNPROVEN:
            return verdict
        for pair in nested:
            identity = (id(pair[0]), id(pair[1]))
            if identity not in seen:
                seen.add(identity)
                pending.append(pair)
    return weakest


def verify_one(
    original: Code, candidate: Code, assumptions: Assumptions, listings: Listings, *, top: bool
) -> tuple[Verdict, list[tuple[Code, Code]]]:
    """Prove one pair, and return the pairs of nested code that the proof assumes equivalent.

    Args:
        original: the original code.
        candidate: the code compiled from the source.
        assumptions: what is known about globals.
        listings: the known listings.
        top: whether the pair is that of the whole proof, and not nested.
    """
    if original is candidate or (original.origin is not None and original.origin is candidate.origin):
        # Both are views of the same live code object.
        return Verdict(Level.EXACT), []
    reason = difference(original, candidate) if top else nested_difference(original, candidate)
    if reason is not None:
        return Verdict(Level.UNPROVEN, f"{original.name}: {reason}"), []
    listing = listings.of(original)
    same = nested_if_same(original, candidate)
    if same is not None and docstring(original) == docstring(candidate):
        return Verdict(Level.EXACT), same
    flows = Flow(listing), Flow(listings.of(candidate))
    exact = compare_exactly(*flows, original, candidate)
    if exact.reason is None:
        return Verdict(Level.EXACT), exact.nested
    similar = bisimulate(*flows, assumptions)
    if similar.reason is None:
        return described(Level.EQUIVALENT, original, exact), similar.nested
    return described(Level.UNPROVEN, original, similar), []


def compare_exactly(mine: Flow, its: Flow, original: Code, candidate: Code) -> Comparison:
    """Return the first difference of two codes under the rules of EXACT.

    Args:
        mine: the instructions of the original.
        its: the instructions of the candidate.
        original: the original code.
        candidate: the code compiled from the source.
    """
    exact = compare_paths(mine, its)
    if exact.reason is None and facts_of(original.version, str(original)).exceptions != "table":
        # The opening and closing of blocks is not an operation, but the compiler wrote it.
        exact.reason = compare_paths(*(Flow(normalise(code, marks=True)) for code in (original, candidate))).reason
    if exact.reason is None and docstring(original) != docstring(candidate):
        exact.reason = "the docstrings differ"
    if exact.reason is None and not shows_in_one_order(original, candidate) and reads_frame(mine.listing):
        exact.reason = "the variables have another order in locals()"
    return exact


def described(level: Level, original: Code, comparison: Comparison) -> Verdict:
    """Return the verdict with the location and the name of its code.

    Args:
        level: the level of the verdict.
        original: the original code.
        comparison: the comparison, with its reason and location.
    """
    return Verdict(level, f"{original.name}: {comparison.reason}", comparison.where, comparison.outlives)
