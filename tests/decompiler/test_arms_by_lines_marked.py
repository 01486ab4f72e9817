"""Statements behind a body that never falls through, with their lines: `a()  #3` stands on line 3 of the source."""

from __future__ import annotations

import pytest

from depyf.decompiler.passes.source_form.arms_by_lines import restore_arms_by_lines, subject
from tests.decompiler.placing import Marked, marked, plain, source_of

BREAK = "for x in y:  #1\n    if a:  #2\n        break{}\n    return b{}"
SHORT = "for x in y:  #1\n    if a:  #2\n        continue  #3\n    b()  #5\n    break  #6"
CHECK = "z()  #{}\nif a:  #3\n    {}  #4\nraise c  #6"
BOTH = "if a:  #1\n    b()  #2\n    c()  #6\nelse:\n    d()  #4\n    raise e  #4"
ON = BOTH.replace("\n    raise e  #4", "")
SAME = (
    "for x in y:  #1\n    if a == 1:  #2\n        continue  #3\n    if a == 2:  #4\n        b()  #5\n"
    "    else:\n        c()  #7\n    d()  #8"
)
TRIED = (
    "try:\n    a()  #2\nexcept E:  #3\n    b()  #4\n    return\nexcept F:  #5\n    return\nc()  #6\nd()  #7"
)

MOVED = {
    "a `raise` behind a return, without a blank line above": (
        CHECK.format(2, "return b"),
        "z()\nif a:\n    return b\nelse:\n    raise c",
    ),
    "a `raise` behind another": (CHECK.format(1, "raise b"), "z()\nif a:\n    raise b\nelse:\n    raise c"),
    "a `raise` behind a return, below a blank line": (
        CHECK.format(1, "return b"),
        "z()\nif a:\n    return b\nelse:\n    raise c",
    ),
    "a return behind another": (
        CHECK.format(1, "return b").replace("raise", "return"),
        "z()\nif a:\n    return b\nelse:\n    return c",
    ),
    "what is below an `else` that leaves": (BOTH, "if a:\n    b()\nelse:\n    d()\n    raise e\nc()"),
    "what is below an `else`, with more behind it": (
        BOTH + "\nf()  #8",
        "if a:\n    b()\nelse:\n    d()\n    raise e\nc()\nf()",
    ),
    "what is below an `else` at the end of a function": (ON, "if a:\n    b()\nelse:\n    d()\n    return\nc()"),
    "two statements behind clauses that go on": (
        TRIED,
        "try:\n    a()\nexcept E:\n    b()\nexcept F:\n    pass\nelse:\n    c()\n    d()",
    ),
    "a call two lines below a return": ("if a:  #1\n    return b  #2\nc()  #4", "if a:\n    return b\nelse:\n    c()"),
}
STAYS = {
    "a body without a line": "if a:  #1\n    return\nreturn b  #4",
    "a `break` below a blank line": BREAK.format("  #4", "  #5"),
    "a `break` whose test has no line": BREAK.format("", "  #3").replace("if a:  #2", "if a:"),
    "two statements": SHORT,
    "four statements": SHORT.replace("b()  #5", "b()  #5\n    c()  #6\n    d()  #7").replace("break  #6", "break  #8"),
    "two statements that go on": SHORT.replace("break", "c()"),
    "statements with a body": SHORT.replace("b()  #5\n    break  #6", "if b:  #5\n        c()  #6\n    break  #7"),
    "two statements right below an exit": SHORT.replace("#5", "#4").replace("#6", "#5"),
    "two statements three lines below an exit": SHORT.replace("#6", "#7").replace("#5", "#6"),
    "two statements far apart": SHORT.replace("#6", "#9"),
    "what is below a body that goes on": BOTH.replace("else:\n    d()  #4\n    raise e", "d()  #4\nraise e"),
    "an `else` that goes on, with more behind it": ON + "\nf()  #8",
    "an `else` that goes on in a block with more behind it": (
        "if z:  #1\n    if a:  #1\n        b()  #2\n        c()  #6\n    else:\n        d()  #4\ny()  #9"
    ),
    "an `else` above the body": BOTH.replace("#2", "#5"),
    "a body that begins without a line": BOTH.replace("b()  #2", "b()"),
    "nothing below the `else`": BOTH.replace("c()  #6", "c()  #3"),
    "a test of another value": SAME.replace("a == 2", "b == 2"),
    "a test of the same value without an `else`": SAME.replace("    else:\n        c()  #7\n", ""),
    "a test of the same value below a blank line": SAME.replace("b()  #5", "b()  #6").replace("2:  #4", "2:  #5"),
    "a test behind a `raise`": "if a:  #1\n    b()  #2\n    raise c  #3\nif d:  #4\n    return e  #5",
    "an assignment two lines below a return": "if a:  #1\n    return b  #2\nc = d  #4",
    "a loop without an end two lines below a return": "if a:  #1\n    return b  #2\nwhile True:  #4\n    c()  #5",
    "a `try` with an `else`": "try:\n    a()  #2\nexcept E:  #3\n    return b  #4\nelse:\n    c()\nreturn d  #6",
    "three statements behind clauses that go on": TRIED + "\ne()  #8",
}


def restored(text: str) -> str:
    body = marked(text)
    restore_arms_by_lines(body, Marked(text))
    return source_of(body)


@pytest.mark.parametrize("case", MOVED)
def test_an_arm_is_where_lines_show_it(case: str) -> None:
    text, source = MOVED[case]
    assert restored(text) == plain(source) != plain(text)


@pytest.mark.parametrize("case", STAYS)
def test_other_statements_stay(case: str) -> None:
    assert restored(STAYS[case]) == plain(STAYS[case])


@pytest.mark.parametrize(
    ("first_test", "other", "is_same"),
    [
        ("a == 1", "a in b", True), ("a == 1", "b == 1", False), ("not a", "a and b", True), ("a", "a", True),
        ("f(a)", "g(a, b)", True), ("f(a)", "f(b)", False), ("m.f(a)", "m.g(a)", False), ("f()", "f()", True),
        ("f()", "g()", False), ("f(a)", "a", True),
    ],
)
def test_what_a_test_is_about(first_test: str, other: str, is_same: bool) -> None:
    first, second = (subject(stmt.value) for text in (first_test, other) for stmt in marked(text))  # type: ignore[attr-defined]
    assert (first == second) is is_same
