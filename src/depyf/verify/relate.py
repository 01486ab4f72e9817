"""Require that values on both sides are the same as far as an observer can tell."""

from __future__ import annotations

from collections.abc import Sequence

from depyf.bytecode.code import Code
from depyf.bytecode.constants import key
from depyf.verify.shown import shown
from depyf.verify.state import FunctionOf, HeapObject, State, contents, shape, sort_of
from depyf.verify.terms import Constant, Fresh, Node, Pure, Sort, Symbol, Term, TupleOf

HOLDING = ("slice", "method", "self")
"""Pure operations whose result holds their operands."""

Pairs = Sequence[tuple[Term, Term]]


def relate(state: State, pairs: Pairs, nested: list[tuple[Code, Code]]) -> str | None:
    """Return why operands of an observable are not the same, or None.

    The observable makes fresh operands visible to others. So corresponding fresh objects become one symbol everywhere,
    and aliases must correspond too. Pairs of functions' code are added to `nested`.

    Args:
        state: the state of both codes, which is changed.
        pairs: the values to compare, the original's first.
        nested: takes the pairs of functions' code that must be equivalent.
    """
    pending = list(reversed(pairs))
    while pending:
        mine, its = pending.pop()
        if state.bound:
            mine, its = state.resolve(mine), state.resolve(its)
        nodes = state.terms.nodes[mine], state.terms.nodes[its]
        if mine == its and not state.private and is_the_same(nodes[0]):
            continue
        if isinstance(nodes[0], Fresh) and isinstance(nodes[1], Fresh):
            reason = relate_fresh(state, mine, its, pending, nested)
            if reason is not None:
                return reason
        elif (parts := _parts(*nodes, is_one=mine == its, has_private=bool(state.private))) is not None:
            pending.extend(parts)
        elif mine != its or isinstance(nodes[0], Symbol) and nodes[0].sort is Sort.LOST:
            return f"{describe(state, mine)} is not {describe(state, its)}"
        else:
            state.private.discard(mine)
    return None


def _parts(first_node: Node, second_node: Node, *, is_one: bool, has_private: bool) -> Pairs | None:
    """Return the pairs that decide whether two terms are related, or None if the terms themselves decide.

    Even equal terms may hold a sequence that was private until now.
    """
    match first_node, second_node:
        case (TupleOf(items=first), TupleOf(items=second)) if len(first) == len(second):
            return list(zip(first, second, strict=True)) if not is_one or has_private else []
        case (Pure(op=a, items=first, detail=c), Pure(op=b, items=second, detail=d)):
            if (a, c, len(first)) == (b, d, len(second)) and (not is_one or (a in HOLDING and has_private)):
                return list(zip(first, second, strict=True))
    return None


def is_the_same(node: Node) -> bool:
    """Return whether a term stands for the same value on both sides without further checks."""
    return node.sort is not Sort.LOST if isinstance(node, Symbol) else not isinstance(node, Fresh)


def relate_fresh(
    state: State, mine: Term, its: Term, pending: list[tuple[Term, Term]], nested: list[tuple[Code, Code]]
) -> str | None:
    """Unite two fresh objects into one symbol, and require that their contents are the same.

    Args:
        state: the state of both codes, which is changed.
        mine: the object of the original.
        its: the object of the candidate.
        pending: takes the pairs of contents to compare.
        nested: takes the pairs of functions' code that must be equivalent.
    """
    first, second = state.heap[mine], state.heap[its]
    if shape(first) != shape(second):
        return f"{describe(state, mine)} is not {describe(state, its)}"
    term = state.terms.symbol(sort_of(first))
    state.bound[mine] = state.bound[its] = term
    del state.heap[mine], state.heap[its]
    if isinstance(first, FunctionOf) and isinstance(second, FunctionOf):
        codes = code_of(state, first), code_of(state, second)
        if key(codes[0]) != key(codes[1]):
            nested.append(codes)
    pending.extend(zip(contents(first), contents(second), strict=True))
    return None


def code_of(state: State, function: FunctionOf) -> Code:
    """Return the code of a fresh function."""
    node = state.terms.nodes[function.code]
    assert isinstance(node, Constant) and isinstance(node.value, Code)
    return node.value


def describe(state: State, term: Term) -> str:
    """Return a short text for a value in a message."""
    node = state.terms.nodes[term]
    match node:
        case Constant(value=value):
            return shown(value, 40)
        case Symbol(sort=Sort.GLOBAL, detail=name):
            return f"global {name}"
        case Symbol(sort=Sort.LOST):
            return "an unknown value"
        case Symbol():
            return f"value {term}"
        case TupleOf(items=items):
            return f"tuple of {len(items)}"
        case Pure(op=op):
            return f"{op} {term}"
        case Fresh():
            return describe_object(state.heap.get(term))
        case _:
            return str(node)


def describe_object(item: HeapObject | None) -> str:
    """Return a short text for a fresh object."""
    if item is None:
        return "a fresh object"
    return f"fresh {shape(item)[0]} of {len(contents(item))}"
