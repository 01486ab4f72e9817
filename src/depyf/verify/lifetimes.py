"""What a side keeps alive while an observable is done, its operands aside: those belong to whoever is called.

    original                    candidate
    y = f(x)[0]; return g(y)    y = f(x); return g(y[0])        holds the other results of `f` while `g` runs
    return g(f(x))              y = f(x); return g(y)           holds `y` while `g` runs, which may have dropped it

Where a text runs in the place of the original, nothing may live longer than it did: a tensor that does is memory.
"""

from __future__ import annotations

from depyf.verify.state import Side, State, contents
from depyf.verify.terms import NOTHING, Pure, Sort, Symbol, Term, TupleOf

WEIGHTLESS = frozenset({Sort.BOOL, Sort.TEXT, Sort.GLOBAL})
"""Sorts of values that take no memory of their own, or that somebody else holds."""
EMPTY_HANDED = frozenset({"not", "is", "matches", "string", "global", "common"})
"""Pure operations whose results hold none of their operands."""


def outlives(state: State, pops: tuple[int, int]) -> Term | None:
    """Return a value that the candidate holds and the original does not while they do an observable, or None.

    pops: how many values on the stack of each side are the observable's own.
    """
    mine, its = (_roots(side, count) for side, count in zip(state.sides, pops, strict=True))
    # What both sides name is held by both: most of a frame is never looked into.
    extra = held(state, its - mine) - mine
    if extra:
        extra -= held(state, mine)
    return min(extra) if extra else None


def _roots(side: Side, pops: int) -> set[Term]:
    return {*side.stack[: len(side.stack) - pops], *side.variables.values(), side.handling}


def held(state: State, roots: set[Term]) -> set[Term]:
    """Return the values that take memory among those that are held by whoever holds `roots`."""
    found: set[Term] = set()
    seen: set[Term] = set()
    pending = list(roots)
    while pending:
        term = state.resolve(pending.pop())
        if term in seen:
            continue
        seen.add(term)
        item = state.heap.get(term)
        match state.terms.nodes[term]:
            case TupleOf(items=items):
                pending.extend(items)
            case Pure(op="item"):
                found.add(term)
            case Pure(op=op, items=items) if op not in EMPTY_HANDED:
                pending.extend(items)
            case Symbol(sort=sort) as node if sort not in WEIGHTLESS and node != NOTHING:
                found.add(term)
                pending.extend(state.items(term) or ())
            case _ if item is not None:
                pending.extend(contents(item))
            case _:
                pass
    return found
