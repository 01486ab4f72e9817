"""All kinds of guards in torch, and the Python form of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from depyf.torch.guards.clause import Clause, Leaf
from depyf.torch.guards.cpp import Root
from depyf.torch.guards.held import Held
from depyf.torch.guards.kinds import ambient, containers, equality, identity, lambdas, relations, tensors
from depyf.torch.guards.kinds.containers import exists
from depyf.torch.guards.kinds.dictionaries import dictionary
from depyf.torch.guards.kinds.place import Place
from depyf.torch.replica.runtime import as_before_guards

Kind = Callable[[Leaf, Place], list[Clause] | None]
Relation = Callable[[Leaf, Place, Sequence[int], Mapping[str, int]], list[Clause] | None]

KINDS: dict[str, Kind] = {
    "TYPE_MATCH": identity.type_match,
    "ID_MATCH": identity.id_match,
    "NONE_MATCH": identity.none_match,
    "NOT_NONE": identity.not_none,
    "TRUE_MATCH": identity.true_match,
    "FALSE_MATCH": identity.false_match,
    "EQUALS_MATCH": equality.equals_match,
    "FLOAT_IS_NAN": equality.is_nan,
    "COMPLEX_IS_NAN": equality.is_nan,
    "LENGTH_CHECK": containers.length_check,
    "DICT_LENGTH": containers.dict_length,
    "DICT_CONTAINS": containers.dict_contains,
    "SET_CONTAINS": containers.set_contains,
    "MAPPING_KEYS_MATCH": containers.mapping_keys,
    "NO_HASATTR": tensors.no_hasattr,
    "TUPLE_ITERATOR_LEN": containers.tuple_iterator_length,
    "RANGE_ITERATOR_MATCH": containers.range_iterator,
    "TENSOR_MATCH": tensors.tensor_match,
    "DIMENSION_DYNAMIC_MARKING_GUARD": tensors.marks,
    "DYNAMIC_INDICES": tensors.dynamic_indices,
    "DISPATCH_KEY_SET_MATCH": tensors.dispatch_key_set,
    "GLOBAL_STATE": ambient.global_state,
    "DEFAULT_DEVICE": ambient.default_device,
    "TORCH_FUNCTION_MODE_STACK": ambient.torch_function_modes,
    "DUAL_LEVEL_MATCH": ambient.dual_level,
    "LAMBDA_GUARD": lambdas.lambda_guard,
}
"""Kinds on one value. A kind that is missing here, or has no Python form, calls torch's own guard."""

CALLED_THROUGH = {
    "DATA_PTR_MATCH": "where a tensor's memory is, which no compile of a frame asks for",
    "DICT_VERSION": "the version of a dict, a number that changes with every change",
    "FAKE_SCRIPT_TYPE_MATCH": "the class of an opaque object, or of the object that a fake replaces",
}
"""Kinds without a Python form, and what they check."""

RELATIONS: dict[str, Relation] = {
    "NO_TENSOR_ALIASING": relations.no_tensor_aliasing,
    "OBJECT_ALIASING": relations.object_aliasing,
    "TENSOR_ALIASING": relations.object_aliasing,
    "STORAGE_OVERLAPPING": relations.storage_overlapping,
    "SYMBOLIC_SHAPE_GUARD": relations.symbolic_shape,
}
"""Kinds on several values."""


def clauses(leaf: Leaf, at: Place) -> list[Clause] | None:
    """Return the clauses for `leaf`, or None if it has no Python form."""
    kind = KINDS.get(leaf.kind)
    return kind(leaf, at) if kind and leaf.parts else None


def relation(leaf: Leaf, at: Place, nodes: Sequence[int], sources: Mapping[str, int]) -> list[Clause] | None:
    """Return the clauses for `leaf` on several `nodes`, or None if it has no Python form.

    Args:
        leaf: torch's guard.
        at: the value at which torch stores it.
        nodes: the values that it relates, by their numbers in the tree.
        sources: the number of each value, by torch's name for it.
    """
    kind = RELATIONS.get(leaf.kind)
    return kind(leaf, at, nodes, sources) if kind and leaf.parts else None


def epilogue(leaf: Leaf, at: Place) -> list[Clause] | None:
    """Return the clauses for a `leaf` that is checked last, or None if it has no Python form."""
    # Before 2.8 torch adds one for relations of sizes even if there are none. Without text it checks nothing.
    return lambdas.epilogue(leaf, at)


class TorchGuard:
    """One of torch's own guards. It lives as long as the tree that owns it, which this keeps alive."""

    def __init__(self, check: Callable[[Any], bool], root: Root, *, of_frame: bool) -> None:
        self._check = check
        self._root = root
        self._of_frame = of_frame

    def __call__(self, value: object) -> bool:
        """Return torch's own verdict on `value`; for a guard on the whole frame, that is the dict of its locals."""
        if not self._of_frame:
            return bool(self._check(value))
        with as_before_guards():
            return bool(self._check(dict(value)))  # type: ignore[call-overload]


def call_through(leaf: Leaf, at: Place, root: Root) -> list[Clause]:
    """Return the clause that calls torch's own guard.

    Args:
        leaf: torch's guard.
        at: the value that it checks.
        root: the guards of the entry.
    """
    assert leaf.check is not None
    held = Held(f"torch_{leaf.kind.lower()}", TorchGuard(leaf.check, root, of_frame=at.is_root), weak=False)
    gap = "L" if at.is_root else at.at
    note = CALLED_THROUGH.get(leaf.kind, "torch's own guard: its text does not show everything that it checks")
    return [
        replace(clause, calls_through=True, note=note)
        for clause in at.clause(leaf, held, "(", gap, ")", expected=" and ".join(part.strip() for part in leaf.parts))
    ]


__all__ = [
    "KINDS",
    "RELATIONS",
    "TorchGuard",
    "call_through",
    "clauses",
    "dictionary",
    "epilogue",
    "exists",
    "relation",
]
