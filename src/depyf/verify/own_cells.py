"""Variables for which an inlined comprehension makes a cell of its own.

    LOAD_FAST_CLEAR x; MAKE_CELL x; ...; LOAD_CLOSURE x; ...; STORE_FAST x

From 3.12 on, the variable has a value, a cell, or the cell of the function, one after the other. The verifier does not
follow which one. Each operation on such a variable counts as observable. Both codes must do the same operations on it
in the same order, so that its values are equal.
"""

from __future__ import annotations

from dataclasses import replace

from depyf.bytecode.listing import Instruction, Listing
from depyf.bytecode.operations import OPERATIONS
from depyf.verify.effects import NEVER_RAISE, Effect, effect_in
from depyf.verify.flow import Flow
from depyf.verify.terms import Sort

OWN = "OWN_CELL"
"""The replacement of each operation on such a variable; its argument is that operation and the variable."""

TAKES = Effect(0, (Sort.MAYBE,))
"""The effect of LOAD_FAST_CLEAR: it pushes a null for an unbound variable."""

OF_VARIABLES = frozenset(
    """
    LOAD_FAST STORE_FAST DELETE_FAST LOAD_FAST_CLEAR MAKE_CELL LOAD_CLOSURE LOAD_DEREF STORE_DEREF DELETE_DEREF
    LOAD_CLASSDEREF LOAD_FROM_DICT_OR_DEREF
    """.split()
)


def with_own_cells(original: Flow, candidate: Flow) -> tuple[Flow, Flow]:
    """Return both codes with `OWN` for each operation on a variable that one of them makes a cell for."""
    both = original, candidate
    with_cells = {item.arg for flow in both for item in flow.instructions if item.op == "MAKE_CELL"}
    if not with_cells:
        return both
    first, second = (Flow(_marked(flow.listing, with_cells)) for flow in both)
    return first, second


def own_effect(item: Instruction) -> tuple[Effect, bool]:
    """Return the effect of the operation that an `OWN` stands for, and whether it can raise."""
    assert isinstance(item.arg, tuple)
    op = str(item.arg[0])
    operation = OPERATIONS[op]
    return (
        TAKES if op == "LOAD_FAST_CLEAR" else effect_in(operation.picture, None)
    ), operation.raises and op not in NEVER_RAISE


def _marked(listing: Listing, with_cells: set[object]) -> Listing:
    instructions = [
        replace(item, op=OWN, arg=(item.op, item.arg)) if item.op in OF_VARIABLES and item.arg in with_cells else item
        for item in listing.instructions
    ]
    return replace(listing, instructions=instructions)
