"""Tests of several statements whose code has lines alone: the form that the code gives, and the source it is of."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import pytest

from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.splits_by_lines import split_tests_by_lines, width
from tests.decompiler.placing import Marked, plain, written

PARTED = {
    "alternatives with a line between them": (
        "if a or b:\n    return 1\nc()",
        "if a:\n    return 1\nif b:\n    return 1\nc()",
    ),
    "alternatives, two of them in one test": (
        "if a or b or c:\n    return\nd()",
        "if (a or\n    b):\n    return\nif c:\n    return\nd()",
    ),
    "alternatives in a loop, with an else behind the last": (
        "for x in y:\n    if a or b:\n        continue\n    else:\n        c()",
        "for x in y:\n    if a:\n        continue\n    if b:\n        continue\n    else:\n        c()",
    ),
    "a break for each test": (
        "while x:\n    if a or b:\n        break\n    c()",
        "while x:\n    if a:\n        break\n    if b:\n        break\n    c()",
    ),
    "a way out at the end of the function": (
        "if not a and b:\n    c()",
        "if a:\n    return\nif b:\n    c()",
    ),
    "a way out of which the test behind it holds more": (
        "if not a and b and c:\n    d()",
        "if a:\n    return\nif b and c:\n    d()",
    ),
    "a test three lines below, with no room for a way out alone": (
        "if not a and b:\n    c()",
        "if not a:\n\n\n    if b:\n        c()",
    ),
    "a way out at the end of a loop": (
        "for x in y:\n    if not a and b:\n        c()\nd()",
        "for x in y:\n    if a:\n        continue\n    if b:\n        c()\nd()",
    ),
    "a way out in a branch at the end": (
        "if x:\n    if not a and b:\n        c()\nelse:\n    d()",
        "if x:\n    if a:\n        return\n    if b:\n        c()\nelse:\n    d()",
    ),
    "a way out behind a loop that ends the function": (
        "for x in y:\n    d()\nelse:\n    if not a and b:\n        c()",
        "for x in y:\n    d()\nelse:\n    if a:\n        return\n    if b:\n        c()",
    ),
    "a way out before a statement inside of the test": (
        "if not a:\n    if b:\n        c()\n    else:\n        d()",
        "if a:\n    return\nif b:\n    c()\nelse:\n    d()",
    ),
    "an arm that does nothing where more follows": (
        "if not a and b:\n    c()\nd()",
        "if a:\n    pass\nelif b:\n    c()\nd()",
    ),
    "an arm that does nothing in a `with`": (
        "with x:\n    if not a and b:\n        c()",
        "with x:\n    if a:\n        pass\n    elif b:\n        c()",
    ),
    "an arm that does nothing before a whole statement": (
        "if not a:\n    if b:\n        c()\n    else:\n        d()\ne()",
        "if a:\n    pass\nelif b:\n    c()\nelse:\n    d()\ne()",
    ),
    "a test below the other with room beside it": (
        "if a and b:\n    c()",
        "if a:\n    if b:\n        c()",
    ),
    "a test inside of another one, with a way out": (
        "if a and b:\n    return\nc()",
        "if a:\n    if b:\n        return\nc()",
    ),
    "a test inside of another one, a line left out, with a way out": (
        "if a and b:\n    return\nc()",
        "if a:\n\n    if b:\n        return\nc()",
    ),
    "three tests below each other": (
        "if a and b and c:\n    d()\ne()",
        "if a and b:\n\n    if c:\n        d()\ne()",
    ),
    "tests with lines left out between them": (
        f"if {'a' * 40} and {'b' * 40}:\n    c()",
        f"if {'a' * 40}:\n\n    if {'b' * 40}:\n        c()",
    ),
    "three tests with lines left out between them": (
        "if a and b and c:\n    d()\ne()",
        "if a:\n\n    if b:\n\n        if c:\n            d()\ne()",
    ),
}
"""What the code gives, and the source."""
STAYS = {
    "alternatives right below each other": "if (a or\n    b):\n    return\nc()",
    "alternatives on one line": "if a or b:\n    return\nc()",
    "alternatives that lead to more than a way out": "if (a or\n\n    b):\n    d()\n    return\nc()",
    "alternatives that lead to no way out": "if (a or\n\n    b):\n    d()\nc()",
    "alternatives that assign a constant": "if (a or\n\n    b):\n    x = 1\nc()",
    "alternatives that return what is computed": "if (a or\n\n    b):\n    return c\nd()",
    "alternatives that raise": "if (a or\n\n    b):\n    raise\nd()",
    "a test with an else": "if (not a and\n\n    b):\n    c()\nelse:\n    d()",
    "a test that does not begin with not": f"if ({'a' * 40} and\n    {'b' * 40}):\n    c()\nd()",
    "what stands inside is no test": "if not a:\n\n    b()",
    "more than a test stands inside": "if not a:\n\n    if b:\n        c()\n    d()",
    "a test right below": "if not a:\n    if b:\n        c()\n    else:\n        d()",
    "a test below that has no line": "if not a:\n    if True:\n        c()\n    else:\n        d()",
    "two tests that have no room on a line": f"if ({'a' * 36} and\n    {'b' * 36}):\n    c()",
    "tests on three lines, none left out": "if (a and\n    b and\n    c):\n    d()",
    "one of two alternatives": "if (a or\n    b):\n    c()",
}


def split(body: list[ast.stmt], depth: int = 0, known: Sequence[int] | None = None) -> None:
    """Split tests by lines, in place; `known` are the lines of the code if each exit has one."""
    lines = Marked("")
    if known is not None:
        lines.known, lines.has_all = list(known), True
    split_tests_by_lines(body, Columns(body), lines, depth)


def restored(form: str, source: str, depth: int = 0) -> str:
    return written(lambda body: split(body, depth), form, source, has_columns=False)


@pytest.mark.parametrize("case", PARTED)
def test_tests_of_several_statements_are_parted(case: str) -> None:
    form, source = PARTED[case]
    assert plain(form) != plain(source)
    assert restored(form, source) == plain(source)


@pytest.mark.parametrize("case", STAYS)
def test_a_test_of_one_statement_stays(case: str) -> None:
    assert restored(STAYS[case], STAYS[case]) == plain(STAYS[case])


@pytest.mark.parametrize(
    "form",
    [
        "if a or b:\n    return\nc()", "if a and b:\n    c()",
        "if not a:\n    if b:\n        c()\n    else:\n        d()",
    ],
)
@pytest.mark.parametrize("source", ["x", "a", "b"])
def test_what_has_no_line_stays(form: str, source: str) -> None:
    assert restored(form, source) == plain(form)


@pytest.mark.parametrize(("depth", "is_parted"), [(0, True), (1, True), (2, False)])
def test_room_is_counted_from_the_block(depth: int, is_parted: bool) -> None:
    """`if a and b:` takes 73 columns: with two blocks around it there is no room for it on a line."""
    first, other = "a" * 32, "b" * 32
    form, source = f"if {first} and {other}:\n    c()\nd()", f"if {first}:\n    if {other}:\n        c()\nd()"
    assert restored(form, source, depth) == plain(source if is_parted else form)


def test_the_block_of_an_elif_is_that_of_its_if() -> None:
    first, other = "a" * 32, "b" * 32
    form = f"if x:\n    y()\nelif {first} and {other}:\n    c()\nd()"
    source = f"if x:\n    y()\nelif {first}:\n    if {other}:\n        c()\nd()"
    assert restored(form, source, 1) == plain(source)


@pytest.mark.parametrize(
    "block",
    ["if x:\n    y()\nelse:\n    {}\n    z()\nd()", "if x:\n    {}\nd()", "for x in y:\n    z()\nelse:\n    {}\nd()"],
)
def test_a_block_inside_takes_room(block: str) -> None:
    first, other = "a" * 32, "b" * 32
    form = block.format(f"if {first} and {other}:\n        c()")
    source = block.format(f"if {first}:\n        if {other}:\n            c()")
    assert restored(form, source, 0) == plain(source)
    assert restored(form, source, 1) == plain(form)


def test_the_line_of_a_way_out_is_the_one_below_its_test() -> None:
    """Passes behind this one find the way out by its line."""
    line_numbers = []

    def restore(body: list[ast.stmt]) -> None:
        split(body)
        line_numbers.append(body[0].body[0].lineno)  # type: ignore[attr-defined]

    written(restore, "if a or b:\n    return\nc()", "if a:\n    return\nif b:\n    return\nc()", has_columns=False)
    written(restore, "if not a and b:\n    c()", "if a:\n    return\nif b:\n    c()", has_columns=False)
    assert line_numbers == [2, 2]


@pytest.mark.parametrize(
    "test",
    [
        "abc", "abc.de", "'text'", "f(a, b)", "f()", "f(a, bcdefghij=c, **d)", "a == b", "a is b", "a is not b",
        "a not in b", "a and b or c", "not a", "not not not not a", "a + b", "a[b]",
    ],
)
def test_the_width_of_a_test_is_about_that_of_its_text(test: str) -> None:
    assert abs(width(ast.parse(test, mode="eval").body) - len(test)) <= 3


def test_a_turned_test_is_parted() -> None:
    source = "if a:\n    return\nif b or c:\n    d()"
    assert restored("if not (a or (not b and not c)):\n    d()", source) == plain(source)


def between(form: str, source: str, known: Sequence[int]) -> str:
    return written(lambda body: split(body, 0, known), form, source, has_columns=False)


@pytest.mark.parametrize(("lines", "is_parted"), [([1, 3, 5, 6], True), ([1, 5, 6], False), ([1, 2, 5, 6], True)])
def test_a_known_line_between_two_tests_is_that_of_an_exit(lines: list[int], is_parted: bool) -> None:
    form, source = "if not a and b:\n    c()", "if a:\n    # why\n    return\n\nif b:\n    c()"
    nested = "if not a:\n    if b:\n        c()"
    assert between(form, source, lines) == plain(source if is_parted else nested)


@pytest.mark.parametrize(("lines", "is_parted"), [([1, 2, 3], True), ([1, 3], False)])
def test_alternatives_without_a_line_between_them_are_one(lines: list[int], is_parted: bool) -> None:
    form, source = "if a or b:\n    return\nc()", "if a:\n    return\nif b:\n    return\nc()"
    assert between(form, source, lines) == plain(source if is_parted else form)


@pytest.mark.parametrize("is_fused", [True, False])
def test_a_jump_if_none_may_be_turned(is_fused: bool) -> None:
    form, source = "if a is None and b:\n    c()", "if a is not None:\n    return\nif b:\n    c()"

    def restore(body: list[ast.stmt]) -> None:
        body[0].test.values[0].fused = is_fused  # type: ignore[attr-defined]
        split(body)

    given = written(restore, form, source, has_columns=False)
    assert given == plain(source if is_fused else "if a is None:\n    if b:\n        c()")


def test_two_lines_are_no_room_for_a_way_out_where_all_are_known() -> None:
    source = "if not a:\n\n    if b:\n        c()\n    else:\n        d()"
    assert between(source, source, [1, 3, 4, 6]) == plain(source)
