"""The precedence of expressions, from loosest to tightest (Python reference, section 6.17)."""

from __future__ import annotations

import ast
from typing import Protocol

(
    YIELD,
    TUPLE,
    WALRUS,
    NAMED,
    STAR,
    TEST,
    OR,
    AND,
    NOT,
    COMPARE,
    BOR,
    BXOR,
    BAND,
    SHIFT,
    ARITH,
    TERM,
    FACTOR,
    POWER,
    AWAIT,
    ATOM,
) = range(20)


class Writer(Protocol):
    """The interface of an expression writer, for modules that write parts of an expression."""

    def write(self, expr: ast.expr, precedence: int = ...) -> str:
        """Return the source of an expression, in parentheses if it binds less tightly than `precedence`."""
