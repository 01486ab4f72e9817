"""Guards on several values together. torch keeps one C++ object at all of them, which Python cannot call."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from torch.fx.experimental.symbolic_shapes import ShapeEnv

from depyf.bytecode.patterns import pattern
from depyf.model.guard_failure import Check
from depyf.torch.guards.clause import At, Clause, Leaf, Text
from depyf.torch.guards.kinds.lambdas import epilogue
from depyf.torch.guards.kinds.place import Place
from depyf.torch.guards.words import expression

_OVERLAPPING = pattern(r"check_overlapping\(overlapping=\[(.*)\], non_overlapping=\[(.*)\]\)$", re.DOTALL)


def _listed(nodes: Sequence[int]) -> Text:
    return tuple(piece for node in nodes for piece in (", ", At(node)))[1:]


def no_tensor_aliasing(leaf: Leaf, at: Place, nodes: Sequence[int], sources: Mapping[str, int]) -> list[Clause]:
    """`no_aliasing(x, y)`: no two of these are the same object.

    Args:
        leaf: torch's guard.
        at: the value at which torch stores it.
        nodes: the values that must differ, by their numbers in the tree.
        sources: the number of each value, by torch's name for it.
    """
    differences: Text = ("no_aliasing_differences(", *_listed(nodes), ")")
    return at.clause(leaf, "no_aliasing(", *_listed(nodes), ")", differences=differences)


def object_aliasing(leaf: Leaf, at: Place, nodes: Sequence[int], sources: Mapping[str, int]) -> list[Clause]:
    """`y is x`: both are the same object.

    Args:
        leaf: torch's guard.
        at: the value at which torch stores it.
        nodes: the values that must be one object, by their numbers in the tree.
        sources: the number of each value, by torch's name for it.
    """
    first, *others = nodes
    text = tuple(piece for node in others for piece in (At(first), " is ", At(node)))
    return at.clause(leaf, *(text or ("True",)), about=Check.IDENTITY, actual=("[", *_listed(nodes), "]"))


def storage_overlapping(leaf: Leaf, at: Place, nodes: Sequence[int], sources: Mapping[str, int]) -> list[Clause] | None:
    """`overlapping([x, y], [z])`: exactly the first ones share memory.

    Args:
        leaf: torch's guard.
        at: the value at which torch stores it.
        nodes: the tensors, by their numbers in the tree.
        sources: the number of each value, by torch's name for it.
    """
    match = _OVERLAPPING.match(expression(leaf.parts[0]))
    if match is None:
        return None
    groups = [[sources.get(name) for name in group.split(", ") if name] for group in match.groups()]
    if any(node is None for group in groups for node in group):
        return None
    shared, apart = (_listed([node for node in group if node is not None]) for group in groups)
    return at.clause(leaf, "overlapping([", *shared, "], [", *apart, "])", about=Check.CONDITION)


def symbolic_shape(leaf: Leaf, at: Place, nodes: Sequence[int], sources: Mapping[str, int]) -> list[Clause] | None:
    """Relations of sizes that torch has compiled to C++; its text has the Python expressions.

    Args:
        leaf: torch's guard.
        at: the value at which torch stores it.
        nodes: the tensors with the sizes, by their numbers in the tree.
        sources: the number of each value, by torch's name for it.
    """
    parts = leaf.parts
    if cpp_accepts_nan():
        parts = tuple(part for part in parts if not part.startswith("not math.isnan("))
    return epilogue(replace(leaf, parts=parts), at)


@cache
def cpp_accepts_nan() -> bool:
    """Return whether torch writes `~std::isnan(x)` for `not math.isnan(x)`, which in C++ is true for every `x`."""
    return "~std::isnan(" in inspect.getsource(ShapeEnv.produce_guards_verbose)
