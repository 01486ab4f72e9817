"""EXACT: walk both listings in step, and require that every pair of steps is equal."""

from __future__ import annotations

from dataclasses import field

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Handler
from depyf.bytecode.records import dataclass
from depyf.verify.flow import Flow
from depyf.verify.level import Place
from depyf.verify.paths import Paths, Step
from depyf.verify.shown import shown


@dataclass(slots=True)
class Comparison:
    """The result of comparing one pair of listings.

    reason: the first difference, or None.
    nested: the pairs of nested code that must also be proven.
    outlives: whether the reason is a value that lives longer.
    pairs: the instructions of both that are proven equivalent, by index.
    """

    reason: str | None = None
    where: Place | None = None
    outlives: bool = False
    nested: list[tuple[Code, Code]] = field(default_factory=list)
    pairs: set[tuple[int, int]] = field(default_factory=set)


def compare_paths(original: Flow, candidate: Flow) -> Comparison:
    """Compare every path from the entry, without nested code."""
    left, right = Paths(original), Paths(candidate)
    result = Comparison()
    pending = [(left.settle(0), right.settle(0))]
    seen = result.pairs = set(pending)
    while pending:
        here, there = pending.pop()
        mine, its = left.step(here), right.step(there)
        result.reason = step_difference(mine, its)
        if result.reason is None:
            # Handlers come last: most codes differ before it matters which instructions can raise.
            handlers = left.handler(mine), right.handler(its)
            result.reason = handler_difference(mine.label[0], *handlers)
        if result.reason is not None:
            result.where = Place(original.listing.code, candidate.listing.code, here, there)
            return result
        if mine.nested is not None and its.nested is not None:
            result.nested.append((mine.nested, its.nested))
        following = list(zip(mine.successors, its.successors, strict=True))
        if handlers[0] is not None and handlers[1] is not None:
            following.append((left.settle(handlers[0].target), right.settle(handlers[1].target)))
        for pair in following:
            if pair not in seen:
                seen.add(pair)
                pending.append(pair)
    return result


def step_difference(mine: Step, its: Step) -> str | None:
    """Return the difference between two steps, without their successors and handlers, or None."""
    if mine.label[0] != its.label[0]:
        return f"{mine.label[0]} != {its.label[0]}"
    if mine.label != its.label or (mine.nested is None) != (its.nested is None):
        return f"{mine.label[0]} {shown(mine.label[1:])} != {shown(its.label[1:])}"
    if len(mine.successors) != len(its.successors):
        return f"{mine.label[0]} jumps in one of them only"
    return None


def handler_difference(what: object, mine: Handler | None, its: Handler | None) -> str | None:
    """Return the difference between the handlers of two steps, or None.

    Args:
        what: the instruction in words.
        mine: the handler of the original's step.
        its: the handler of the candidate's step.
    """
    if (mine is None) != (its is None):
        return f"{what} is protected in one of them only"
    if mine is not None and its is not None and entry(mine) != entry(its):
        return f"the handlers of {what} are entered differently"
    return None


def entry(handler: Handler) -> tuple[int, bool]:
    """Return how a handler is entered."""
    return handler.depth, handler.lasti
