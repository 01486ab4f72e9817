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
    first, second = state.sides
    kept = held(state, second, pops[1])
    extra = kept - held(state, first, pops[0]) if kept else kept
    return min(extra) if extra else None


def held(state: State, side: Side, pops: int) -> set[Term]:
    """Return the values that take memory among those that a side holds."""
    found: set[Term] = set()
    seen: set[Term] = set()
    pending = [*side.stack[: len(side.stack) - pops], *side.variables.values(), side.handling]
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
