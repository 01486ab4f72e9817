"""Write constants as source that evaluates to exactly the same value."""

from __future__ import annotations

import math

HEX_FROM = 10**600
"""Longer integers are written in hexadecimal: Python limits the digits of decimal ones (3.11)."""


def source(value: object) -> str:
    """Return the literal of a constant; negative numbers include their sign, without parentheses.

    Raises TypeError for an object without a literal.
    """
    if type(value) is not tuple:
        return scalar(value)
    pieces: list[str] = []
    work: list[object] = [value]
    while work:
        item = work.pop()
        if type(item) is _Text:
            pieces.append(item.text)
        elif type(item) is tuple:
            work.append(_Text(",)" if len(item) == 1 else ")"))
            for place in range(len(item) - 1, -1, -1):
                work.append(item[place])
                if place:
                    work.append(_Text(", "))
            work.append(_Text("("))
        else:
            pieces.append(scalar(item))
    return "".join(pieces)


class _Text:
    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def scalar(value: object) -> str:
    """Return the literal of a constant that is not a tuple."""
    kind = type(value)
    if kind is str:
        return repr(value)
    if value is Ellipsis:
        return "..."
    if kind is int:
        assert isinstance(value, int)
        return hex(value) if abs(value) >= HEX_FROM else repr(value)
    if kind is float:
        assert isinstance(value, float)
        return _float(value)
    if kind is complex:
        assert isinstance(value, complex)
        return _complex(value)
    if kind in (bytes, bool, type(None)):
        return repr(value)
    raise TypeError(f"{kind.__name__} has no literal")


def _float(value: float) -> str:
    if math.isinf(value):
        return "1e309" if value > 0 else "-1e309"
    if math.isnan(value):
        return "(1e309 - 1e309)" if math.copysign(1, value) < 0 else "(-(1e309 - 1e309))"
    return repr(value)


def _complex(value: complex) -> str:
    """Return an expression that the compiler folds: only a pure imaginary number has a literal.

    Each form preserves the signs of zeros under the rules of mixed arithmetic, before 3.14 and since. So a number with
    a negative imaginary part is written as a negation or a difference.
    """
    # The difference of two infinities also has a sign: the negative one.
    negative = (math.copysign(1, value.imag) < 0) != math.isnan(value.imag)
    if negative and not math.isnan(value.imag) and value.imag and (value.real or math.copysign(1, value.real) > 0):
        return f"({_float(value.real) if value.real else 0}-{_imaginary(-value.imag)})"
    return f"-{_upper(-value)}" if negative else _upper(value)


def _upper(value: complex) -> str:
    """Write a number whose imaginary part has no sign."""
    imaginary = _imaginary(value.imag)
    if value.real:
        return f"({_float(value.real)}+{imaginary})"
    if math.copysign(1, value.real) > 0:
        return imaginary
    return f"(-(0-{imaginary}))" if value.imag else "((-1+0j)*0j)"


def _imaginary(value: float) -> str:
    """Return an imaginary number without a sign."""
    if math.isinf(value):
        return "1e309j"
    if math.isnan(value):
        return "(1e309j-1e309j)"
    return repr(complex(0, value))
