"""Statements behind each other that leave a block alike: the form that the code gives, and the source it is of."""

from __future__ import annotations

import ast
from collections.abc import Set as AbstractSet

import pytest

from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.evidence import Kind, Written
from depyf.decompiler.passes.source_form.forms import rewrite, walk
from depyf.decompiler.passes.source_form.splits import Splits
from tests.decompiler.placing import plain, written

PARTED = {
    "alternatives": (
        "for x in y:\n    if a or b:\n        continue\n    c()",
        "for x in y:\n    if a:\n        continue\n    if b:\n        continue\n    c()",
    ),
    "alternatives with not": (
        "if not a or not b:\n    return 1\nc()",
        "if not a:\n    return 1\nif not b:\n    return 1\nc()",
    ),
    "the opposite of what all hold": (
        "if not (a and b):\n    return 1\nc()",
        "if not a:\n    return 1\nif not b:\n    return 1\nc()",
    ),
    "twice the opposite": (
        "if not (not (a or b)):\n    return 1\nc()",
        "if a:\n    return 1\nif b:\n    return 1\nc()",
    ),
    "alternatives of which one is a test of two": (
        "if a or b and c:\n    return 1\nd()",
        "if a:\n    return 1\nif b and c:\n    return 1\nd()",
    ),
    "the first two of three in one test": (
        "if a or b or c:\n    return 1\nd()",
        "if a or b:\n    return 1\nif c:\n    return 1\nd()",
    ),
    "three": (
        "if a or b or c:\n    return 1\nd()",
        "if a:\n    return 1\nif b:\n    return 1\nif c:\n    return 1\nd()",
    ),
    "alternatives with an else": (
        "if a or b:\n    return 1\nelse:\n    c()",
        "if a:\n    return 1\nif b:\n    return 1\nelse:\n    c()",
    ),
    "an elif": (
        "if a or b:\n    return 1\nelse:\n    c()",
        "if a:\n    return 1\nelif b:\n    return 1\nelse:\n    c()",
    ),
    "an elif and another if behind it": (
        "if a or b:\n    return 1\nc()",
        "if a:\n    return 1\nelif b:\n    return 1\nc()",
    ),
    "alternatives of an elif": (
        "if x:\n    y()\nelif a or b:\n    return 1\nc()",
        "if x:\n    y()\nelif a:\n    return 1\nelif b:\n    return 1\nc()",
    ),
    "a guard of the rest of a function": (
        "if not a and b:\n    c()",
        "if a:\n    return\nif b:\n    c()",
    ),
    "guards of the rest of a loop": (
        "for x in y:\n    z()\n    if not a and not b and c:\n        d()",
        "for x in y:\n    z()\n    if a:\n        continue\n    if b:\n        continue\n    if c:\n        d()",
    ),
    "a guard whose test is of two": (
        "if not a and not b and c:\n    d()",
        "if a or b:\n    return\nif c:\n    d()",
    ),
    "a guard with not": (
        "if a and b:\n    c()",
        "if not a:\n    return\nif b:\n    c()",
    ),
    "a guard before a test with not": (
        "if not a and not b:\n    c()",
        "if a:\n    return\nif not b:\n    c()",
    ),
    "a guard alone": (
        "x()\nif not a:\n    c()",
        "x()\nif a:\n    return\nc()",
    ),
    "a guard alone that begins the body of a loop": (
        "for x in y:\n    if not a:\n        c()",
        "for x in y:\n    if a:\n        continue\n    c()",
    ),
    "a guard with not, alone": (
        "x()\nif a:\n    c()",
        "x()\nif not a:\n    return\nc()",
    ),
    "a guard behind what has no column": (
        "x()\nbreak\nif not a:\n    c()",
        "x()\nbreak\nif a:\n    return\nc()",
    ),
    "two tests on two lines, and two on one": (
        "if a or b or c or d:\n    return 1\ne()",
        "if (a or\n    b):\n    return 1\nif (c or d):\n    return 1\ne()",
    ),
    "alternatives in an arm, two columns to the right": (
        "if x:\n  if a or b:\n    return 1\nc()",
        "if x:\n  if a:\n    return 1\n  if b:\n    return 1\nc()",
    ),
    "alternatives in an else, two columns to the right": (
        "if x:\n  y()\nelse:\n  if a or b:\n    return 1\n  z()\nc()",
        "if x:\n  y()\nelse:\n  if a:\n    return 1\n  if b:\n    return 1\n  z()\nc()",
    ),
    "what stands behind a test": (
        "if a:\n    b()\n    return c",
        "if a:\n    b()\nelse:\n    return\nreturn c",
    ),
    "a guard in what follows a loop": (
        "for x in y:\n    z()\nelse:\n    d()\n    if not a:\n        c()",
        "for x in y:\n    z()\nelse:\n    d()\n    if a:\n        return\n    c()",
    ),
}
"""What the code gives, and the source."""
STAYS = {
    "alternatives on one line": "if a or b:\n    return 1\nc()",
    "alternatives on two lines": "if (a or\n    b):\n    return 1\nc()",
    "alternatives that do not leave": "if (a or\n\n    b):\n    d()\nc()",
    "alternatives that do more than leave": "if a:\n    d()\n    return 1\nif b:\n    d()\n    return 1\nc()",
    "a test in another column": "if (a or\n\n     b):\n    return 1\nc()",
    "a test with an else": "if (a and\n\n   b):\n    c()\nelse:\n    d()",
    "a test before others": "if (a and\n\n    b):\n    c()\nd()",
    "a test in a with": "with x:\n    if a:\n        c()",
    "a body to the right": "x()\nif a:\n    c()",
    "a test behind one that has a place": "x()\nif (a):\n    c()",
    "a test with a bracket": "x()\nif (not a):\n    b()",
}


def restored(form: str, source: str, leaving: AbstractSet[int] = frozenset()) -> str:
    def restore(body: list[ast.stmt]) -> None:
        columns = Columns(body)
        columns.written = [Written(line, None, Kind.RETURN) for line in leaving]
        splits = Splits(columns)
        for block in walk(body):
            for place in range(len(block.stmts) - 1, -1, -1):
                rewrite(block, place, (splits.alternatives, splits.guards, splits.guard, splits.followed))

    return written(restore, form, source)


@pytest.mark.parametrize("case", PARTED)
def test_tests_of_several_statements_are_parted(case: str) -> None:
    form, source = PARTED[case]
    assert restored(form, source) == plain(source) != plain(form)


@pytest.mark.parametrize("case", STAYS)
def test_a_test_of_one_statement_stays(case: str) -> None:
    assert restored(STAYS[case], STAYS[case]) == plain(STAYS[case])


GUARD = "if {}:\n    return\nif b:\n    c()"
KEPT = {
    "a with": (
        "with x:\n    if not a and b:\n        c()",
        "with x:\n    if a:\n        return\n    if b:\n        c()",
    ),
    "a test with an else": ("if a and b:\n    c()\nelse:\n    d()", GUARD.format("not a") + "\nelse:\n    d()"),
    "what something follows": (
        "if a:\n    b()\n    return c\nd()",
        "if a:\n    b()\nelse:\n    return\nreturn c",
    ),
    "what something follows, in a with": (
        "with x:\n    if a:\n        b()\n        return c",
        "with x:\n    if a:\n        b()\n    else:\n        return\n    return c",
    ),
}
"""Forms whose end is not that of the function, or whose test has another arm: the second source does not give them."""


@pytest.mark.parametrize("case", KEPT)
def test_a_statement_that_does_not_end_a_block_has_no_guard(case: str) -> None:
    assert restored(*KEPT[case]) == plain(KEPT[case][0])


@pytest.mark.parametrize("source", ["a\nc", "b\nc", "a\nb", "a\n\nc"])
def test_no_operand_without_a_place_is_lost(source: str) -> None:
    given = restored("if a or b or c:\n    return 1\nd()", source)
    names = [node.id for node in ast.walk(ast.parse(given)) if isinstance(node, ast.Name)]
    assert sorted(names) == ["a", "b", "c", "d"]


def test_behind_a_test_without_a_place_there_is_no_elif() -> None:
    form, source = "if x:\n    y()\nelif a or b:\n    return 1\nc()", "if a:\n    return 1\nif b:\n    return 1\nc()"
    assert restored(form, source) == plain(
        "if x:\n    y()\nelse:\n    if a:\n        return 1\n    if b:\n        return 1\nc()"
    )


@pytest.mark.parametrize("source", ["z", "a", "b", "c()", "x()\nc()", "x()\nif a:\n    b"])
def test_without_places_a_test_stays(source: str) -> None:
    for form in ("if a or b:\n    return 1\nc()", "x()\nif not a and b:\n    c()", "x()\nif not a:\n    c()"):
        assert restored(form, source) == plain(form)


def test_the_line_behind_a_way_out_is_another_statement() -> None:
    """`if a: return 1` has a way out on its line: what stands on the next one is no part of the test."""
    form, source = "if a or b:\n    return 1\nc()", "if a: return 1\nif b:\n    return 1\nc()"
    assert restored(form, source) == plain(form)
    assert restored(form, source, {1}) == plain(source)


def test_alternatives_in_an_else_that_is_no_elif_stand_behind_each_other() -> None:
    form = "if x:\n    y()\nelif a or b:\n    return 1\nc()"
    source = "if x:\n    y()\nelse:\n    if a:\n        return 1\n    if b:\n        return 1\nc()"
    assert restored(form, source) == plain(source)


def test_one_column_of_a_guard_is_that_of_what_stands_before_it() -> None:
    form, source = "x()\nif not a:\n    c()", "if y:\n    x()\nif a:\n    return\nc()"
    assert restored(form, source) == plain(form)

