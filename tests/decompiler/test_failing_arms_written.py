"""`else: assert False`, which comes as an `assert` of the test before it."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.splits import split_tests
from tests.decompiler.placing import Marked, marked, placed, plain, source_of

REST = "".join(f"\ny() #@ {line}:0" for line in range(9, 19))
"""Statements that show how far blocks are indented."""


def restored(text: str) -> str:
    body = placed(text + REST)
    split_tests(body, Columns(body))
    return ast.unparse(ast.fix_missing_locations(ast.Module(body[:1], [])))


# The test of an `assert` begins seven columns behind it: in column 5 it stands where `elif` has its own.
TEXT = "if a: #@ 1:0\n    x() #@ 2:4\nelse:\n    assert b, c #@ 3:-2\n    d() #@ 4:4"
WRITTEN = {
    TEXT: "if a:\n    x()\nelif b:\n    d()\nelse:\n    assert False, c",
    TEXT.replace(", c", ""): "if a:\n    x()\nelif b:\n    d()\nelse:\n    assert False",
    TEXT.replace("b, c #@ 3:-2", "not b, c #@ 3:2"): (
        "if a:\n    x()\nelif not b:\n    d()\nelse:\n    assert False, c"
    ),
}
STAYS = {
    "a test behind assert": TEXT.replace("3:-2", "3:4"),
    "no place of the test": TEXT.replace(" #@ 3:-2", ""),
    "no place of what follows": TEXT.replace(" #@ 4:4", ""),
    "nothing behind the assert": TEXT.replace("\n    d() #@ 4:4", ""),
    "something before the assert": TEXT.replace("else:\n", "else:\n    y() #@ 2:8\n"),
    "no else": "if a: #@ 1:0\n    assert b #@ 3:-2\n    d() #@ 4:4",
    "a loop": TEXT.replace("if a", "while a"),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_what_is_an_elif(text: str) -> None:
    assert restored(text) == WRITTEN[text]


@pytest.mark.parametrize("why", STAYS)
def test_what_is_an_assert(why: str) -> None:
    assert restored(STAYS[why]) == ast.unparse(ast.parse(STAYS[why]))


FAILING = "assert b, (  #2\n    c  #5\n)\nd()  #3"
BY_LINES = {
    "one statement above the message": (FAILING, "if b:\n    d()\nelse:\n    assert False, c"),
    "something below the message": (
        FAILING + "\ne()  #6",
        "if b:\n    d()\nelse:\n    assert False, c\ne()",
    ),
    "two statements above it, the second with a body": (
        FAILING.replace("#5", "#6") + "\nif e:  #4\n    f()  #5",
        "if b:\n    d()\n    if e:\n        f()\nelse:\n    assert False, c",
    ),
    "in an arm": (
        "if a:  #1\n    assert b, (  #2\n        c  #5\n    )\n    d()  #3",
        "if a:\n    if b:\n        d()\n    else:\n        assert False, c",
    ),
    "behind another statement": (f"a()  #1\n{FAILING}", "a()\nif b:\n    d()\nelse:\n    assert False, c"),
}
STAYS_BY_LINES = {
    "the message is above": FAILING.replace("#5", "#2"),
    "the message is on the next line": FAILING.replace("d()  #3", "d()  #4").replace("#5", "#3"),
    "nothing below": FAILING.partition("\nd()")[0],
    "what follows has no line": FAILING.replace("  #3", ""),
    "the message has no line": FAILING.replace("  #5", ""),
    "no message": "assert b  #2\nd()  #3",
    "something else has the lower line": FAILING.replace("assert b, (", "b, ("),
}


def restored_by_lines(text: str) -> str:
    body = marked(text)
    restore_failing_arms_by_lines(body, Marked(text))
    return source_of(body)


@pytest.mark.parametrize("case", BY_LINES)
def test_a_message_below_what_follows_is_of_an_else(case: str) -> None:
    text, source = BY_LINES[case]
    assert restored_by_lines(text) == plain(source)


@pytest.mark.parametrize("case", STAYS_BY_LINES)
def test_a_message_beside_its_test_is_of_an_assert(case: str) -> None:
    assert restored_by_lines(STAYS_BY_LINES[case]) == plain(STAYS_BY_LINES[case])
