"""Guards on the value of a constant."""

from __future__ import annotations

import ast

from depyf.torch.difference import ABSENT, brief
from depyf.torch.guards.clause import Clause, Leaf
from depyf.torch.guards.held import hold
from depyf.torch.guards.kinds.place import Place
from depyf.torch.guards.literal import literal
from depyf.torch.guards.words import expression


def equals_match(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`equals(x, 7)`: equal to 7 and exactly of its type, which torch's words do not say."""
    value = at.value if at.value is not ABSENT else _said(leaf, at)
    if value is ABSENT or (leaf.check is not None and not leaf.check(value)):
        return None
    spelled = literal(value)
    if spelled is None and type(value) in (list, set, dict):
        # Torch compares with a copy of its own: the user may change this one.
        return None
    expected = spelled or hold(value, at.source, strongly=True)
    return at.clause(leaf, "equals(", at.at, ", ", expected, ")", expected=brief(value))


def _said(leaf: Leaf, at: Place) -> object:
    """Return the constant in torch's words `x == 7`, if it is a literal of the type that torch remembers."""
    try:
        value = ast.literal_eval(expression(leaf.parts[0]).removeprefix(f"{at.source} == "))
    except (ValueError, SyntaxError):
        return ABSENT
    return value if type(value) is at.guarded else ABSENT


def is_nan(leaf: Leaf, at: Place) -> list[Clause]:
    """`isnan(x)`: exactly a float, or exactly a complex number, and not a number."""
    kind = "float" if leaf.kind == "FLOAT_IS_NAN" else "complex"
    return at.clause(leaf, "isnan(", at.at, f", {kind})", expected="nan")
