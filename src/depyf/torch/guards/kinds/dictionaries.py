"""A dict whose items torch finds by position. torch checks its exact type and length without mentioning it."""

from __future__ import annotations

from collections.abc import Sequence

from depyf.torch.guards.clause import Clause, Leaf, Text
from depyf.torch.guards.kinds.identity import named
from depyf.torch.guards.kinds.place import Place
from depyf.torch.guards.verdicts.difference import brief

KIND = "DICT_GUARD"


def dictionary(at: Place, keys: Sequence[object]) -> list[Clause] | None:
    """`dictionary(x, OrderedDict, 2)`: exactly this class, and this many items; then `keys` in this order.

    The length is that of the value at capture, because torch does not provide it.
    """
    if not isinstance(at.value, dict):
        return None
    cls, length = type(at.value), dict.__len__(at.value)
    leaf = Leaf(KIND, (f"{at.source} is exactly a {brief(cls)} of {length} items",), None)
    arguments: Text = (at.at, ", ", named(cls), f", {length})")
    differences: Text = ("dictionary_differences(", *arguments)
    return at.clause(leaf, "dictionary(", *arguments, differences=differences, pins=cls)
