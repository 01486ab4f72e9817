"""Write constants as source that gives the very same value back."""

from __future__ import annotations

import math

HEX_FROM = 10**600
"""Longer integers are written in hexadecimal: Python limits the digits of decimal ones (3.11)."""


def source(value: object) -> str:
    """Return the literal of a constant; negative numbers come with their sign, unparenthesised.

    Raises TypeError for an object that has no literal.
    """
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
    """Return the literal of a constant that is no tuple."""
    kind = type(value)
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
    if kind in (str, bytes, bool, type(None)):
        return repr(value)
    raise TypeError(f"{kind.__name__} has no literal")


def _float(value: float) -> str:
    if math.isinf(value):
        return "1e309" if value > 0 else "-1e309"
    if math.isnan(value):
        return "(1e309 - 1e309)" if math.copysign(1, value) < 0 else "(-(1e309 - 1e309))"
    return repr(value)


def _complex(value: complex) -> str:
    """`0j` keeps the sign of its real part only when it is written as a sum or difference."""
    imaginary = _float(value.imag)
    if math.isinf(value.imag):
        imaginary = imaginary.replace("1e309", "1e309j")
    elif math.isnan(value.imag):
        imaginary = "(1e309j - 1e309j).imag * 1j"
    else:
        imaginary += "j"
    if value.real == 0 and math.copysign(1, value.real) > 0:
        if not imaginary.startswith("-"):
            return imaginary
        return f"(0{imaginary})"
    if value.real == 0:
        return f"(-0.0{imaginary})" if imaginary.startswith("-") else f"(-0.0+{imaginary})"
    joiner = "" if imaginary.startswith("-") else "+"
    return f"({_float(value.real)}{joiner}{imaginary})"
