"""Set displays with equal constants: the compiler folds three or more written constants into a smaller set."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.api import decompile_code
from depyf.decompiler.lift.set_displays import FOLDED, repeat_last
from depyf.verify.level import Level
from tests.decompiler.test_forms import code_of

EQUAL = {
    "{0, 0, 0}": "{0, 0, 0}",
    "{1, 1.0, True}": "{1, 1, 1}",
    "{1, 2, 1}": "{1, 2, 2}",
    "{'a', 'a', 'b'}": "{'a', 'b', 'b'}",
    "{-0.0, 0, 0}": "{-0.0, -0.0, -0.0}",
    "{*{1, 1, 1}}": "{*{1, 1, 1}}",
    "{(1, 2), (1, 2), (1, 2)}": "{(1, 2), (1, 2), (1, 2)}",
}
"""Displays as they were written, and as they come back."""
UNCHANGED = (
    "{1}",
    "{1, 2}",
    "{1, 1}",
    "{1, 2, 3}",
    "{1, 2, 1, *a}",
    "{*a, 1, 1, 1}",
    "{*(1, 1)}",
    "{*frozenset({1})}",
    "{1, 1, 1, a}",
)
"""Near misses: nothing is repeated that the code does not have."""
TESTED = {"a in {0, 0, 0}": "a in {0}", "[b for b in {1, 1, 1}]": "[b for b in {1}]"}
"""Constant sets that fill no display."""


@pytest.mark.parametrize(("written", "shown"), [*EQUAL.items(), *zip(UNCHANGED, UNCHANGED), *TESTED.items()])
def test_a_set_display_is_exact(written: str, shown: str) -> None:
    result = decompile_code(code_of(f"def f(a): return {written}").origin)
    assert result.source == f"def f(a):\n    return {shown}\n"
    assert result.level is Level.EXACT


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_last_constant_is_repeated_until_the_compiler_folds(count: int) -> None:
    elements: list[ast.expr] = [ast.Constant(number) for number in range(count)]
    repeat_last(elements)
    values = [element.value for element in elements if isinstance(element, ast.Constant)]
    assert values == [*range(count), *[count - 1] * max(FOLDED - count, 0)]
