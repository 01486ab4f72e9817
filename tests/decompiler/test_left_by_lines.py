"""What is returned where a loop is left, where lines alone show it: the form that the code gives, and its source."""

from __future__ import annotations

import ast
from typing import cast

import pytest
from depyf.decompiler.passes.source_form.left_by_lines import restore_left_by_lines

from depyf.decompiler.passes.source_form.lines import Lines
from tests.decompiler.placing import as_compiled, plain

MOVED = {
    "a return below the loop": (
        "while True:\n    if a():\n        return b()\n    c()",
        "while True:\n    if a():\n        break\n    c()\nreturn b()",
    ),
    "a return two lines below the last test": (
        "while True:\n    c()\n    if a():\n        return b()",
        "while True:\n    c()\n    if a():\n        break\nreturn b()",
    ),
    "a return right below the test": (
        "while True:\n    c()\n    if a():\n        break\nreturn b()",
        "while True:\n    c()\n    if a():\n        return b()",
    ),
    "in an arm": (
        "if d():\n    while True:\n        if a():\n            return b()\n        c()",
        "if d():\n    while True:\n        if a():\n            break\n        c()\n    return b()",
    ),
}
STAYS = {
    "a return in the loop": "while True:\n    if a():\n        return b()\n    c()",
    "a return at the end of the loop": "while True:\n    c()\n    if a():\n        return b()",
    "a return behind the loop": "while True:\n    if a():\n        break\n    c()\nreturn b()",
    "a loop that is left twice": "while True:\n    if a():\n        break\n    if d():\n        break\nreturn b()",
    "a loop that ends by its test": "while d():\n    if a():\n        return b()\n    c()",
    "a break behind something else": "while True:\n    if a():\n        d()\n        break\nreturn b()",
    "a loop that is left for something else": "while True:\n    if a():\n        break\nb()",
    "a loop that is left from a try": (
        "while True:\n    if a():\n        break\n    try:\n        c()\n    except:\n        break\nreturn b()"
    ),
    "a break that no test leads to": "while True:\n    for x in a():\n        c()\n    break\nreturn b()",
    "a break in a with": "while True:\n    with a():\n        break\nreturn b()",
    "a break in the else of a test": "while True:\n    if a():\n        c()\n    else:\n        break\nreturn b()",
    "a loop with an else": "while True:\n    if a():\n        break\nelse:\n    c()\nreturn b()",
    "a loop without an end": "while True:\n    c()",
    "a loop with a break and a return": (
        "while True:\n    if a():\n        break\n    if c():\n        d()\n        return b()"
    ),
    "two returns": "while True:\n    if a():\n        return b()\n    if c():\n\n        return d()",
    "more behind the loop": "while True:\n    if a():\n        break\nc()\nreturn b()",
}

OTHERWISE = {
    "it returns nothing": (
        "while True:\n    c()\n    if a():\n        break\nb()",
        "while True:\n    c()\n    if a():\n        b()",
    ),
    "a break in a try": (
        "while True:\n    try:\n        if a():\n            break\n    except:\n        c()\nreturn b()",
        "while True:\n    try:\n        if a():\n            return b()\n    except:\n        c()",
    ),
    "another break": (
        "while True:\n    if a():\n        break\n    if c():\n        d()\n        return b()",
        "while True:\n    if a():\n        break\n    if c():\n        d()\n\nreturn b()",
    ),
    "returns on two lines": (
        "while True:\n    if a():\n        return b()\n    if c():\n        return d()",
        "while True:\n    if a():\n        z\n    if c():\n        z\n\nreturn b()\nreturn d()",
    ),
    "two breaks": (
        "while True:\n    if c():\n        break\n    if a():\n        break\nreturn b()",
        "while True:\n    if c():\n        return b()\n    if a():\n        z",
    ),
    "a loop whose else leaves": (
        "while d():\n    c()\n    if a():\n        break\nelse:\n    return e\nreturn b()",
        "while d():\n    c()\n    if a():\n        return b()\nelse:\n    return e",
    ),
    "a loop with a test": (
        "while d():\n    c()\n    if a():\n        break\nreturn b()",
        "while d():\n    c()\n    if a():\n        return b()",
    ),
    "more behind the loop": (
        "while True:\n    c()\n    if a():\n        return b()\nd()\ne()",
        "while True:\n    c()\n    if a():\n        z\nd()\ne()\nreturn b()",
    ),
    "a break above the last": (
        "while True:\n    if c():\n        break\n    if a():\n        break\nreturn b()",
        "while True:\n    if c():\n        z\n    if a():\n        return b()",
    ),
    "a break behind something": (
        "while True:\n    if a():\n        d()\n        break\nreturn b()",
        "while True:\n    if a():\n        return b()",
    ),
    "a break in an else": (
        "while True:\n    if a():\n        c()\n    else:\n        break\nreturn b()",
        "while True:\n    if a():\n        return b()",
    ),
}
"""Lines that would show it, but for something else."""


class OfNodes:
    """The lines of statements as their nodes say them."""

    def first(self, stmt: ast.stmt) -> int:
        return min((each for node in ast.walk(stmt) if (each := getattr(node, "lineno", 0))), default=0)

    def head(self, stmt: ast.stmt) -> int:
        parts = [stmt.test] if isinstance(stmt, (ast.If, ast.While)) else [stmt]
        return max((getattr(node, "lineno", 0) for part in parts for node in ast.walk(part)), default=0)


def restored(form: str, source: str) -> str:
    body = as_compiled(form, source, has_columns=False)
    restore_left_by_lines(body, cast(Lines, OfNodes()))
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))


@pytest.mark.parametrize("case", MOVED)
def test_a_return_stands_where_its_line_is(case: str) -> None:
    form, source = MOVED[case]
    assert restored(form, source) == plain(source) != plain(form)


@pytest.mark.parametrize("case", STAYS)
def test_a_return_that_stands_there_stays(case: str) -> None:
    assert restored(STAYS[case], STAYS[case]) == plain(STAYS[case])


@pytest.mark.parametrize("case", OTHERWISE)
def test_another_return_stays(case: str) -> None:
    form, source = OTHERWISE[case]
    assert restored(form, source) == plain(form)


@pytest.mark.parametrize("case", MOVED)
def test_without_lines_a_return_stays(case: str) -> None:
    form, _ = MOVED[case]
    assert restored(form, "z") == plain(form)
