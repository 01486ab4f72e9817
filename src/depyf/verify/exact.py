"""EXACT: both listings walked in step, every pair of steps equal."""

from __future__ import annotations

from dataclasses import dataclass, field

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Handler
from depyf.verify.flow import Flow
from depyf.verify.level import Place
from depyf.verify.paths import Paths, Step
from depyf.verify.shown import shown


@dataclass(slots=True)
class Comparison:
    """What a comparison of one pair of listings found.

    reason: the first difference, or None where there is none.
    nested: the pairs of nested code that must be proven as well.
    outlives: whether the reason is that a value lives longer.
    pairs: by index, the instructions of both that were found to do the same.
    """

    reason: str | None = None
    where: Place | None = None
    outlives: bool = False
    nested: list[tuple[Code, Code]] = field(default_factory=list)
    pairs: set[tuple[int, int]] = field(default_factory=set)


def compare_paths(original: Flow, candidate: Flow) -> Comparison:
    """Compare every path from the entry, nested code aside."""
    left, right = Paths(original), Paths(candidate)
    result = Comparison()
    pending = [(left.settle(0), right.settle(0))]
    seen = result.pairs = set(pending)
    while pending:
        here, there = pending.pop()
        mine, its = left.step(here), right.step(there)
        result.reason = step_difference(mine, its)
        if result.reason is None:
            # Handlers come last: most codes differ before anybody has to know what can raise.
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
    """Return what differs in two steps, their successors and handlers aside, or None."""
    if mine.label[0] != its.label[0]:
        return f"{mine.label[0]} != {its.label[0]}"
    if mine.label != its.label or (mine.nested is None) != (its.nested is None):
        return f"{mine.label[0]} {shown(mine.label[1:])} != {shown(its.label[1:])}"
    if len(mine.successors) != len(its.successors):
        return f"{mine.label[0]} jumps in one of them only"
    return None


def handler_difference(what: object, mine: Handler | None, its: Handler | None) -> str | None:
    """Return what differs in the handlers of two steps, or None."""
    if (mine is None) != (its is None):
        return f"{what} is protected in one of them only"
    if mine is not None and its is not None and entry(mine) != entry(its):
        return f"the handlers of {what} are entered differently"
    return None


def entry(handler: Handler) -> tuple[int, bool]:
    """Return how a handler is entered."""
    return handler.depth, handler.lasti
