"""Find values that a side keeps alive during an observable. Its operands do not count: they belong to the callee.

original                    candidate
y = f(x)[0]; return g(y)    y = f(x); return g(y[0])        holds the other results of `f` while `g` runs
return g(f(x))              y = f(x); return g(y)           holds `y` while `g` runs, which may have dropped it

If a text replaces the original, no value may live longer than before: a tensor that does costs memory.
"""

from __future__ import annotations

from depyf.verify.state import Side, State, contents
from depyf.verify.terms import NOTHING, Pure, Sort, Symbol, Term, TupleOf

WEIGHTLESS = frozenset({Sort.BOOL, Sort.TEXT, Sort.GLOBAL})
"""Sorts of values without memory of their own, or held elsewhere."""
EMPTY_HANDED = frozenset({"not", "is", "matches", "string", "global", "common"})
"""Pure operations whose results do not hold their operands."""


def outlives(state: State, pops: tuple[int, int]) -> Term | None:
    """Return a value that the candidate, but not the original, holds during an observable, or None.

    pops: the number of values on each side's stack that are the observable's operands.
    """
    mine, its = (_roots(side, count) for side, count in zip(state.sides, pops, strict=True))
    # Values named on both sides are held by both: most of a frame is never searched.
    extra = held(state, its - mine) - mine
    if extra:
        extra -= held(state, mine)
    return min(extra) if extra else None


def _roots(side: Side, pops: int) -> set[Term]:
    return {*side.stack[: len(side.stack) - pops], *side.variables.values(), side.handling}


def held(state: State, roots: set[Term]) -> set[Term]:
    """Return the values with memory that are reachable from `roots`."""
    terms: set[Term] = set()
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
                terms.add(term)
            case Pure(op=op, items=items) if op not in EMPTY_HANDED:
                pending.extend(items)
            case Symbol(sort=sort) as node if sort not in WEIGHTLESS and node != NOTHING:
                terms.add(term)
                pending.extend(state.items(term) or ())
            case _ if item is not None:
                pending.extend(contents(item))
            case _:
                pass
    return terms
