"""Values of a graph and of a kernel in one form, so that the same computation is the same number in both.

A term is an operation with the numbers of its operands. Casts, views and masks are left out. A computation that
Inductor writes in several steps is recognised by its last step: `x.sum() / n` is the mean of `x`, in a graph and in a
kernel.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from depyf.bytecode.records import dataclass

Part: TypeAlias = "int | float | str | bool"

_COMMUTATIVE = frozenset(("add", "mul", "maximum", "minimum", "eq", "ne", "and", "or", "xor"))
_COMPARISONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))
REDUCED_BY = {
    "add": "sum",
    "mul": "prod",
    "maximum": "max",
    "minimum": "min",
    "or": "any",
    "xor": "xor_sum",
}
"""The names of reductions, by the operation that combines their elements."""

PLACED = "placed"
"""A value in a part of a tensor of zeros, wherever that part is."""

_SAME = {
    "amax": "max",
    "amin": "min",
    "true_divide": "div",
    "truediv": "div",
    "fmax": "maximum",
    "fmin": "minimum",
    "max2": "max",
    "min2": "min",
    "bitwise_and": "and",
    "logical_and": "and",
    "bitwise_or": "or",
    "logical_or": "or",
    "bitwise_xor": "xor",
    "clamp_min": "maximum",
    "clamp_max": "minimum",
    "absolute": "abs",
    "max_propagate_nan": "maximum",
    "min_propagate_nan": "minimum",
    "fabs": "abs",
    "bitwise_not": "not",
    "remainder_integer": "remainder",
    "div_rn": "div",
    "sqrt_rn": "sqrt",
    "bmm": "mm",
    "dot": "mm",
    "nearbyint": "round",
    "rint": "round",
}
"""Other names of operations."""


@dataclass(slots=True)
class Terms:
    """All terms, each once. A term is its index in `made`."""

    made: list[tuple[str, tuple[Part, ...]]] = field(default_factory=list)
    _known: dict[tuple[str, tuple[Part, ...]], int] = field(default_factory=dict)

    def leaf(self, name: str) -> int:
        """Return the term of a named value."""
        return self._intern("given", (name,))

    def constant(self, value: float) -> int:
        """Return the term of a number."""
        return self._intern("constant", (repr(float(value)),))

    def value_of(self, term: int) -> float | None:
        """Return the number that a term stands for, or None."""
        name, parts = self.made[term]
        return float(str(parts[0])) if name == "constant" else None

    def numbers_in(self, term: int) -> frozenset[float]:
        """Return the numbers among the operands of a term."""
        parts = (self.value_of(part) for part in self.made[term][1] if isinstance(part, int))
        return frozenset(part for part in parts if part is not None)

    def of(self, operation: str, *parts: int) -> int:
        """Return the term of an operation on terms."""
        name = _SAME.get(operation, operation)
        rewritten = self._rewritten(name, parts)
        if rewritten is not None:
            return rewritten
        return self._intern(name, tuple(sorted(parts)) if name in _COMMUTATIVE else parts)

    def is_number(self, term: int) -> bool:
        """Return whether a term is a number."""
        return self.made[term][0] == "constant"

    def is_of_places(self, term: int) -> bool:
        """Return whether a condition compares indices, which are not values of the graph, with numbers."""
        pending = [term]
        while pending:
            name, parts = self.made[pending.pop()]
            if name in ("and", "or", "not"):
                pending += [int(part) for part in parts]
            elif name not in _COMPARISONS or len(parts) != 1 or not self.is_number(int(parts[0])):
                return False
        return True

    def _intern(self, name: str, parts: tuple[Part, ...]) -> int:
        key = name, parts
        if key not in self._known:
            self._known[key] = len(self.made)
            self.made.append(key)
        return self._known[key]

    def _rewritten(self, name: str, parts: tuple[int, ...]) -> int | None:
        """Return the term for a computation in several steps, or None."""
        match name, parts:
            case (("fma" | "fmadd" | "addcmul"), (a, b, c)):
                return self.of("add", self.of("mul", a, b), c)
            case "addmm", (c, a, b):
                return self.of("add", c, self.of("mm", a, b))
            case "fmsub", (a, b, c):
                return self.of("sub", self.of("mul", a, b), c)
            case "fnmadd", (a, b, c):
                return self.of("sub", c, self.of("mul", a, b))
            case "placed", (x,) if self.made[x][0] == PLACED:
                return x
            case ("square", (x,)):
                return self.of("mul", x, x)
            case "reciprocal", (x,):
                return self.of("div", self.constant(1), x)
            case "relu", (x,):
                return self.of("maximum", x, self.constant(0))
            case (("logical_not" | "not"), (x,)):
                return self.of("eq", x, self.constant(0))
            case "pow", (x, power):
                return self._power(x, self.value_of(power))
            case "div", (x, count) if self.is_number(count) and self.made[x][0] == "sum":
                return self._intern("mean", (*self.made[x][1], count))
            case "div", (one, below) if self.value_of(one) == 1.0:
                return self._sigmoid(below)
            case "sum", (x,):
                return self._squares(x)
            case "where", (condition, other, same) if self._is_wrapped_index(condition, other, same):
                return same
        return None

    def _power(self, x: int, power: float | None) -> int | None:
        if power in (0.5, -0.5):
            return self.of("sqrt" if power == 0.5 else "rsqrt", x)
        if power == 1.0:
            return x
        if power in (2.0, 4.0):
            half = x if power == 2.0 else self.of("mul", x, x)
            return self.of("mul", half, half)
        return self.of("mul", self.of("mul", x, x), x) if power == 3.0 else None

    def _sigmoid(self, below: int) -> int | None:
        """before: `1 / (1 + exp(-x))`."""
        name, parts = self.made[below]
        for left, other in (parts, parts[::-1]) if name == "add" and len(parts) == 2 else ():
            inner, exponent = self.made[int(other)]
            if self.value_of(int(left)) == 1.0 and inner == "exp" and self.made[int(exponent[0])][0] == "neg":
                return self._intern("sigmoid", self.made[int(exponent[0])][1])
        return None

    def _squares(self, x: int) -> int | None:
        """before: the sum of `(x - mean(x)) * (x - mean(x))`."""
        name, parts = self.made[x]
        if name != "mul" or len(parts) != 2 or parts[0] != parts[1]:
            return None
        inner, difference = self.made[int(parts[0])]
        is_centred = inner == "sub" and len(difference) == 2 and self._is_mean(int(difference[1]), difference[0])
        return self._intern("squares", difference[:1]) if is_centred else None

    def _is_mean(self, term: int, of: Part) -> bool:
        name, parts = self.made[term]
        return name == "mean" and parts[0] == of

    def _is_wrapped_index(self, condition: int, other: int, same: int) -> bool:
        """Return whether it is `index + size if index < 0 else index`."""
        name, parts = self.made[condition]
        added, summands = self.made[other]
        return name == "lt" and parts[0] == same and added == "add" and same in summands
