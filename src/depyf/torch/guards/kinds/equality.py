"""Guards that compare a value with a constant."""

from __future__ import annotations

import ast
from collections.abc import Callable

from depyf.torch.guards.clause import Clause, Leaf
from depyf.torch.guards.held import hold
from depyf.torch.guards.kinds.place import Place
from depyf.torch.guards.literal import literal
from depyf.torch.guards.verdicts.difference import ABSENT, brief
from depyf.torch.guards.words import expression


def equals_match(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`equals(x, 7)`: equal to 7 and exactly of its type, which torch's text does not mention."""
    value = at.value if at.value is not ABSENT else _said(leaf, at)
    if value is ABSENT or (leaf.check is not None and not leaf.check(value)):
        return None
    if leaf.check is not None and _bits_matter(leaf.check, value):
        return _same_number(leaf, at, value)
    spelled = literal(value)
    if spelled is None and type(value) in (list, set, dict):
        # torch compares with its own copy, because the user may change this object.
        return None
    expected = spelled or hold(value, at.source, strongly=True)
    return at.clause(leaf, "equals(", at.at, ", ", expected, ")", expected=brief(value))


def _said(leaf: Leaf, at: Place) -> object:
    """Return the constant in torch's text `x == 7`, if it is a literal of the type that torch remembers."""
    try:
        value = ast.literal_eval(expression(leaf.parts[0]).removeprefix(f"{at.source} == "))
    except (ValueError, SyntaxError):
        return ABSENT
    return value if type(value) is at.guarded else ABSENT


def is_nan(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`isnan(x, float)`: exactly a float or a complex number, and NaN; since 2.15 it must be the same NaN."""
    kind = "float" if leaf.kind == "FLOAT_IS_NAN" else "complex"
    nans: tuple[float | complex, ...] = (_NAN, -_NAN) if kind == "float" else (complex(_NAN, 1.0), complex(1.0, _NAN))
    if leaf.check is None or all(map(leaf.check, nans)):
        return at.clause(leaf, "isnan(", at.at, f", {kind})", expected="nan")
    return None if at.value is ABSENT else _same_number(leaf, at, at.value)


_NAN = float("nan")


def _bits_matter(check: Callable[[object], bool], value: object) -> bool:
    """Return whether torch compares a number bit by bit, as it does since 2.15: 0.0 is not -0.0."""
    match value:
        case float() if value == 0:
            return not check(-value)
        case complex() if value.real == 0 or value.imag == 0:
            return not (check(value.conjugate()) and check(-value.conjugate()))
        case _:
            return False


def _same_number(leaf: Leaf, at: Place, value: object) -> list[Clause] | None:
    if type(value) not in (float, complex):
        return None
    expected = repr(value) if type(value) is float and value == 0 else hold(value, at.source, strongly=True)
    return at.clause(leaf, "same_number(", at.at, ", ", expected, ")", expected=brief(value))
