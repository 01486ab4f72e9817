"""Guards on the exact type or the identity of an object."""

from __future__ import annotations

import re
import types

from depyf.bytecode.patterns import pattern
from depyf.model.guard_failure import Check
from depyf.torch.capture.qualified import code_name
from depyf.torch.guards.clause import Clause, Leaf, Piece
from depyf.torch.guards.held import hold, is_builtin
from depyf.torch.guards.kinds.place import Place
from depyf.torch.guards.verdicts.difference import ABSENT, brief

_ID = pattern(r"_+check_(?:type_id|obj_id|fake_script_type)\(.*?, (\d+)\)", re.DOTALL)
_ID_LAST = pattern(r".*, (\d+)\)", re.DOTALL)


def named(cls: type) -> Piece:
    """Return the piece for `cls` in a text: its name if that means the same in every program."""
    return cls.__name__ if is_builtin(cls) else hold(cls)


def _identity(leaf: Leaf) -> int | None:
    """Return the address that `leaf` compares with: the number before the closing bracket of its check."""
    text = leaf.parts[0].partition(", type=")[0] if leaf.parts else ""
    match = _ID.match(text) and _ID_LAST.match(text)
    return int(match[1]) if match else None


def type_match(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`type(x) is Config`: exactly this class."""
    identity = _identity(leaf)
    for cls in (type(at.value), at.guarded):
        if cls is not None and id(cls) == identity:
            subject = ("type(", at.at, ")")
            return at.clause(
                leaf, *subject, " is ", named(cls), expected=cls, about=Check.CLASS, actual=subject, pins=cls
            )
    return None


def id_match(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`G["torch"].abs is torch_abs`: exactly this object."""
    if at.value is ABSENT or id(at.value) != _identity(leaf):
        return None
    held = hold(at.value, at.source)
    known = at.value is None or isinstance(at.value, bool)
    if isinstance(at.value, types.CodeType):
        return at.clause(leaf, at.at, " is ", held, expected=code_name(at.value), about=Check.FUNCTION)
    return at.clause(leaf, at.at, " is ", held, expected=brief(at.value) if known else held.name or brief(at.value))


def none_match(leaf: Leaf, at: Place) -> list[Clause]:
    """`x is None`."""
    return at.clause(leaf, at.at, " is None", expected="None")


def not_none(leaf: Leaf, at: Place) -> list[Clause]:
    """`x is not None`."""
    return at.clause(leaf, at.at, " is not None", expected="not None")


def true_match(leaf: Leaf, at: Place) -> list[Clause]:
    """`x is True`."""
    return at.clause(leaf, at.at, " is True", expected="True")


def false_match(leaf: Leaf, at: Place) -> list[Clause]:
    """`x is False`."""
    return at.clause(leaf, at.at, " is False", expected="False")
