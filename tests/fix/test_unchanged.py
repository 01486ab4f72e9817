"""A function that an edit does not touch keeps its bytecode."""

from __future__ import annotations

import pytest

from depyf.fix.unchanged import changed_elsewhere, line_before, line_replaced

TEXT = """
import torch


class A:
    def f(self):
        return n

    def g(self, x):
        return x + 1


def outer():
    n = 1

    def inner():
        return n

    return inner
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import torch\n", "import torch\ntorch._dynamo.config.x = 1\n"),
        ("return x + 1", "return x + 2"),
        ("def outer():\n", "def added():\n    return 1\n\n\ndef outer():\n"),
        ("    def g(self", "    # why\n    def g(self"),
    ],
)
def test_an_edit_of_one_function_changes_no_other(old: str, new: str) -> None:
    assert old in TEXT
    assert changed_elsewhere(TEXT, TEXT.replace(old, new)) == []


def test_a_variable_that_becomes_global_changes_the_function_that_reads_it() -> None:
    assert changed_elsewhere(TEXT, TEXT.replace("    n = 1\n", "    global n\n    n = 1\n")) == ["inner"]


def test_one_and_true_are_different_constants() -> None:
    template = "def f():\n    if 1:\n        def g(): return {}\n    return g\n"
    assert changed_elsewhere(template.format("1"), template.format("1")) == []
    assert changed_elsewhere("class A:\n    def f(self): return __x\n", "class B:\n    def f(self): return __x\n") == [
        "f"
    ]


@pytest.mark.parametrize(("line", "before"), [(1, 1), (2, 3), (3, 4), (4, 0), (5, 0), (6, 5), (7, 0)])
def test_a_line_of_an_edited_text_has_its_number_before(line: int, before: int) -> None:
    assert line_before("a\nb\nc\nd\ne\n", "a\nc\nD\nx\ny\ne\n".replace("D", "d"), line) == before


@pytest.mark.parametrize(("line", "replaced"), [(1, 0), (2, 2), (4, 0), (5, 0)])
def test_the_line_that_a_new_line_replaces(line: int, replaced: int) -> None:
    assert line_replaced("a\nif b:\n    c\nd\n", "a\nreport()\nd\nx\ny\n", line) == replaced
