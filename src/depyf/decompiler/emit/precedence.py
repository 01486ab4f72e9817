"""How tightly expressions bind, from loosest to tightest (Python reference, section 6.17)."""

from __future__ import annotations

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
