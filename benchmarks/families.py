"""Programs of any size `n`, by family: what is repeated n times, or nested n deep.

Used by `benchmarks/growth.py`, and by the worker in the interpreter that is measured, on Python 3.7 too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "benchmarks", "roundtrip"))

import roundtrip

FLAT = 10_000
CHAIN = 900
"""What CPython compiles of expressions inside each other without brackets."""
BRACKETS = 90
HEAD = "def t(a, b, c, f, g):"
BLOCKS = 19
"""Loops, `try` and `with` inside each other."""


@dataclass(frozen=True)
class Family:
    """text: the program of size n, a function `t`. largest: the n beyond which Python does not compile it."""

    text: Callable[[int], str]
    largest: int
    is_shared: bool = False


FAMILIES: dict[str, Family] = {
    name: Family(lambda n, name=name: roundtrip.synth(name, n), roundtrip.CAP.get(name, FLAT), True)  # type: ignore[misc]
    for name in roundtrip.FAMILIES
}


def function(lines: Iterable[str], head: str = HEAD) -> str:
    """Return a function with these lines."""
    return "\n    ".join([head, *lines, "return b\n"])


def repeated(
    name: str,
    *lines: str,
    largest: int = FLAT,
    before: Sequence[str] = (),
    behind: Sequence[str] = (),
    head: str = HEAD,
) -> None:
    """Add a family of lines that stand n times; `{i}` is their number."""

    def text(n: int) -> str:
        return function([*before, *(line.format(i=i) for i in range(n) for line in lines), *behind], head)

    FAMILIES[name] = Family(text, largest)


def listed(name: str, line: str, part: str, between: str = ", ", largest: int = FLAT) -> None:
    """Add a family of one line, in which `@` stands for n parts."""

    def text(n: int) -> str:
        return function([line.replace("@", between.join(part.format(i=i) for i in range(n)))])

    FAMILIES[name] = Family(text, largest)


def nested(name: str, opening: str, inmost: str, closing: Sequence[str] = (), largest: int = BLOCKS) -> None:
    """Add a family of statements n deep in each other; `closing` follows each, the inmost first."""

    def text(n: int) -> str:
        lines = [" " * i + line.format(i=i) for i in range(n) for line in opening.split("|")]
        lines.append(" " * n + inmost)
        return function(lines + [" " * i + line.format(i=i) for i in reversed(range(n)) for line in closing])

    FAMILIES[name] = Family(text, largest)


def wrapped(name: str, line: str, *around: str) -> None:
    """Add a family of an expression put n times into others, taken in turn; `@` is what is inside."""

    def text(n: int) -> str:
        inside = "c"
        for i in range(n):
            inside = around[i % len(around)].replace("@", inside).format(i=i)
        return function([line.replace("@", inside)])

    FAMILIES[name] = Family(text, BRACKETS)


# -- statements inside each other
nested("nested_with", "with f({i}) as x{i}:", "g(x0)")
nested("nested_while", "while f({i}):", "g(a)")
nested("nested_try", "try:", "g(a)", ["except E{i}:", " f({i})"], 17)
nested("nested_finally", "try:", "g(a)", ["finally:", " f({i})"], 17)
nested("nested_handlers", "try:| f({i})|except E{i} as e:", "g(e)", largest=9)

# -- one statement after the other
repeated("seq_while", "while f({i}):", " g(a)")
repeated("seq_loop_else", "for x in a:", " if f({i}):", "  break", "else:", " g(a)")
repeated("seq_boolif", "if a and f({i}) or c and not g({i}):", " b = 1")
repeated("seq_bool", "b = a and f({i}) or (c and not g({i}))")
repeated("seq_chained", "if 0 < f({i}) < {i}:", " g(a)")
repeated("seq_ternary", "b = f(a if g({i}) else c)")
repeated("seq_raise", "if f({i}):", " raise E({i}) from a")
repeated("seq_match", "match f({i}):", " case 1:", "  b = 1", " case [x, y]:", "  b = x", " case _:", "  b = 2")
repeated("try_all", "try:", " f({i})", "except E as e:", " g(e)", "else:", " f(b)", "finally:", " g({i})")
repeated("try_return", "try:", " if f({i}): return a", "finally:", " g({i})")
repeated("with_return", "with f({i}):", " if g(a): return c")
repeated("except_stars", "try:", " f({i})", "except* E as e:", " g(e)")
repeated("asserts", "assert f({i}), 'x{i}'")
repeated("yields", "c = yield {i}")
repeated("yield_froms", "c = yield from f({i})")
repeated("walrus", "if (x{i} := f({i})):", " g(x{i})")
repeated("seq_unpack", "a, b, *c = f({i})")
repeated("swaps", "a, b = b, a")
repeated("augmented", "a[f({i})] += g({i})")
repeated("slices", "a[{i}:b] = c[::f({i})]")
repeated("imports", "import m{i}.x as y{i}")
repeated("seq_fstring", "b = f'{{a}} {i} {{b:{{c}}}}'")
repeated("seq_def", "def h{i}(x, y=a):", " return x + {i} + b")
repeated("seq_lambda", "b = lambda x: x + {i}")
repeated("seq_class", "class C{i}(a):", " x = {i}", " def m(self): return super().m()")
repeated("seq_genexpr", "b = sum(x for x in a if x > {i})")
repeated("seq_nested_comp", "b = [[y for y in x if y] for x in a if f({i})]")

# -- many parts of one statement
repeated("elif_return", "elif f(a, {i}):", " return {i}", largest=2560, before=["if a:", " return c"])
repeated("handlers", "except E{i} as e:", " g(e, {i})", before=["try:", " f(a)"])
repeated("handlers_return", "except E{i}:", " return g({i})", before=["try:", " f(a)"])
repeated("try_body", " f({i})", before=["try:"], behind=["except E:", " g(b)"])
repeated("try_ifs", " if f({i}):", "  g({i})", before=["try:"], behind=["finally:", " g(b)"])
repeated("finally_returns", " if f({i}):", "  return g({i})", before=["try:"], behind=["finally:", " g(b)"])
repeated("with_returns", " if f({i}):", "  return g({i})", before=["with f(a):"])
repeated("loop_try", " try:", "  f({i})", " except ValueError:", "  continue", before=["for x in a:"])
repeated("loop_break", " if x == {i}:", "  break", before=["for x in a:"])
repeated("loop_return", " if x == {i}:", "  return {i}", before=["for x in a:"])
repeated("loop_mixed", " if f({i}):", "  g(a)", "  continue", " if g({i}):", "  break", before=["while True:"])
repeated("match_literals", " case {i}:", "  b = f({i})", before=["match a:"], behind=[" case _:", "  b = g(a)"])
repeated("match_classes", " case C{i}(x={i}, y=y):", "  b = f(y)", before=["match a:"])
repeated("match_sequences", " case [{i}, x, *y]:", "  b = f(y)", before=["match a:"])
repeated("match_mappings", " case {{'k': {i}, **y}} if g(y):", "  b = f(y)", before=["match a:"])

# -- many parts of one expression
listed("chained_comparison", "b = a < @", "f({i})", " < ", CHAIN)
listed("chained_condition", "if a < @: b = c", "f({i})", " < ", CHAIN)
listed("dict_display", "b = {@}", "{i}: f({i})")
listed("dict_const", "b = {@}", "'k{i}': {i}")
listed("list_const", "b = [@]", "{i}")
listed("set_display", "b = {@}", "f({i})")
listed("list_stars", "b = [@]", "*g({i}), a")
listed("call_args", "b = f(@)", "g({i})")
listed("call_keywords", "b = f(@)", "k{i}=g({i})")
listed("call_stars", "b = f(@)", "*g({i})")
listed("bool_args", "b = f(@)", "a and g({i}) or c", largest=2560)
listed("ternary_args", "b = f(@)", "a if g({i}) else c", largest=2560)
listed("fstring", "b = f'@'", "{{f({i})!r:>{i}}} x", "")
listed("comp_ifs", "b = [x for x in a @]", "if f({i})", " ")
listed("from_import", "from m import @", "x{i}")
listed("unpack", "@ = f(a)", "x{i}")
listed("chained_assign", "@ = f(a)", "x{i}", " = ")
listed("attribute_chain", "b = a.@", "x{i}", ".", CHAIN)
listed("call_chain", "b = a.@", "x{i}(c)", ".", CHAIN)
listed("subscript_chain", "b = a@", "[{i}]", "", CHAIN)
listed("not_chain", "b = @ a", "not", " ", CHAIN)
listed("power_chain", "b = @", "a", " ** ", CHAIN)
wrapped("nested_bool", "b = @", "(f({i}) and @)", "(f({i}) or @)")
wrapped("nested_boolif", "if @: b = 1", "(f({i}) and @)", "(f({i}) or not @)")
wrapped("nested_call", "b = @", "f({i}, @)")
wrapped("nested_list", "b = @", "[a, @]")

# -- definitions
FAMILIES["parameters"] = Family(
    lambda n: function([], f"def t({', '.join(f'p{i}={i}' for i in range(n))}, b=1):"), FLAT
)
repeated("methods", " def m{i}(self): return {i} + self.x", before=["class C:"])
repeated("async_withs", "async with f({i}) as x: await g(x)", head="async " + HEAD)
repeated("async_fors", "async for x in f({i}): await g(x)", head="async " + HEAD)
