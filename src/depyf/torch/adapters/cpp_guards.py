"""The classes of torch's C++ guard trees. torch before 2.3 has none; its guards are a Python function."""

from __future__ import annotations

from typing import Any

import torch._dynamo  # noqa: F401 - makes its C++ part known

_MODULE: Any = getattr(torch._C._dynamo, "guards", None)


class Absent:
    """Stands for a class that this torch does not have. It has no instances."""


DictGuardManager: Any = getattr(_MODULE, "DictGuardManager", Absent)
"""The manager of a dict whose items torch finds by their position."""

DictSubclassGuardManager: Any = getattr(_MODULE, "DictSubclassGuardManager", Absent)
"""The manager of a dict of another class, which was removed in 2.7."""

GlobalStateGuard: Any = getattr(_MODULE, "GlobalStateGuard", Absent)
"""torch's snapshot of its global state."""

_RELATIONS = (
    "RelationalGuard",
    "NO_TENSOR_ALIASING",
    "TENSOR_ALIASING",
    "OBJECT_ALIASING",
    "STORAGE_OVERLAPPING",
    "SYMBOLIC_SHAPE_GUARD",
)
RELATIONAL: tuple[type, ...] = tuple(getattr(_MODULE, name) for name in _RELATIONS if hasattr(_MODULE, name))
"""Guards on several values together. They have a base class from 2.7 on."""


def leaf_kinds() -> set[str]:
    """Return the names of all kinds of guards in this torch."""
    base = getattr(_MODULE, "LeafGuard", Absent)
    classes = {name: member for name, member in vars(_MODULE).items() if isinstance(member, type)}
    return {name for name, class_of_guard in classes.items() if issubclass(class_of_guard, base)} - {
        "LeafGuard",
        "RelationalGuard",
    }


def has_trees() -> bool:
    """Return whether the guards of a cache entry are a tree of readable objects."""
    return hasattr(_MODULE, "RootGuardManager")


def tells_types() -> bool:
    """Return whether a guard can report the type of the value for which it was made."""
    return hasattr(getattr(_MODULE, "GuardManager", None), "get_type_of_guarded_value")


def looks_at(kind: str) -> bool:
    """Return whether this torch has guards of a kind."""
    return hasattr(_MODULE, kind)


def overlapping_tensors(tensors: list[torch.Tensor]) -> set[int]:
    """Return the positions of the tensors that overlap in memory with another one."""
    positions = _MODULE.compute_overlapping_tensors(tensors, symbolic=False)
    return {int(position) for position in positions}
