"""Statements of which only a line is left: `a()  #3` stands on line 3 of the source."""

from __future__ import annotations

import pytest
from depyf.decompiler.passes.source_form.idle_lines import restore_idle_lines, restore_passes

from tests.decompiler.placing import Marked, marked, plain, source_of

HEAD = 1
"""The line of the function's head."""
LOOP = "a()  #2\nwhile c:  #4\n    d()  #5"
TWO = "a()  #2\nb()  #4"

WRITTEN = {
    "a line between two statements": (TWO, "a()\nif __debug__:\n    b()", (3,)),
    "a line below the function's head": ("b()  #3", "if __debug__:\n    b()", (2,)),
    "a line at the begin of an arm": ("if a:  #2\n    b()  #4", "if a:\n    if __debug__:\n        b()", (3,)),
    "a line at the begin of a loop": (
        "for x in a:  #2\n    b()  #4",
        "for x in a:\n    if __debug__:\n        b()",
        (3,),
    ),
    "a line below a test": (
        "if a:  #2\n    b()  #3\nc()  #5",
        "if a:\n    b()\nif __debug__:\n    c()",
        (4,),
    ),
    "a line above a loop": (LOOP, "a()\nwhile True:\n    if not c:\n        break\n    d()", (3,)),
    "a line above a loop whose `else` leaves": (
        LOOP + "\nelse:\n    e()  #6\n    return  #7",
        "a()\nwhile True:\n    if not c:\n        e()\n        return\n    d()",
        (3,),
    ),
}
STAYS = {
    "no line is left": (TWO, ()),
    "two lines are left": ("a()  #2\nb()  #5", (3, 4)),
    "a line that is not the one above it": ("a()  #2\nb()  #5", (3,)),
    "a line before what has no line": ("a()  #2\nb()", (3,)),
    "a line above an exit": ("a()  #2\nreturn b  #4", (3,)),
    "a line above a `try`": ("a()  #2\ntry:\n    b()  #5\nfinally:\n    c()  #7", (3,)),
    "a line above a loop without a test": ("a()  #2\nwhile True:  #4\n    b()  #5", (3,)),
    "two lines above a loop": (LOOP.replace("#4", "#5").replace("#5\n", "#6\n"), (3, 4)),
    "no line above a loop": (LOOP, ()),
    "a loop whose `else` goes on": (LOOP + "\nelse:\n    e()  #6", (3,)),
    "the line of a `pass`": ("if a:  #2\n    pass\nb()  #4", (3,)),
    "the line of a `pass` in an arm": ("if c:  #1\n    if a:  #2\n        pass\nb()  #4", (3,)),
    "the line of a `pass` before an `else`": ("if a:  #2\n    pass\nelse:\n    c()  #4", (3,)),
    "the line of a head of two lines": ("with a:  #2\n    b()  #4", (3,)),
    "a line below an exit": ("if a:  #2\n    return\nb()  #4", (3,)),
}
DONE = "if a:\n    b()\nelif c:\n    return\nelse:\n    d()"
PASSES = {
    "an `elif` at the end": (DONE, DONE.replace("return", "pass")),
    "in an arm": (
        "if x:\n    if a:\n        b()\n    elif c:\n        return\n    else:\n        d()",
        "if x:\n    if a:\n        b()\n    elif c:\n        pass\n    else:\n        d()",
    ),
    "the second `elif`": (
        "if x:\n    y()\nelif a:\n    b()\nelif c:\n    return\nelse:\n    d()",
        "if x:\n    y()\nelif a:\n    b()\nelif c:\n    pass\nelse:\n    d()",
    ),
}
NO_PASSES = {
    "more behind it": DONE + "\ne()",
    "no arm behind it": DONE.partition("\nelse")[0],
    "a value": DONE.replace("return", "return 1"),
    "something before the return": DONE.replace("return", "e()\n    return"),
    "something else": DONE.replace("return", "e()"),
    "something behind the return": DONE.replace("return", "return\n    e()"),
    "the first arm": "if a:\n    return\nelse:\n    b()",
    "a loop": "while a:\n    return\nelse:\n    b()",
    "an `else` of two statements": (
        "if a:\n    b()\nelse:\n    if c:\n        return\n    else:\n        d()\n    e()"
    ),
}


def restored(text: str, left: tuple[int, ...], idle: tuple[int, ...] = ()) -> str:
    body = marked(text)
    restore_idle_lines(body, Marked(text, idle, left), HEAD)
    return source_of(body)


@pytest.mark.parametrize("case", WRITTEN)
def test_what_left_its_line_is_written(case: str) -> None:
    text, source, left = WRITTEN[case]
    assert restored(text, left) == plain(source) != plain(text)


@pytest.mark.parametrize("case", STAYS)
def test_another_line_says_nothing(case: str) -> None:
    text, left = STAYS[case]
    assert restored(text, left) == plain(text)


def test_the_line_of_an_operation_is_no_debug_test() -> None:
    assert restored(TWO, (), idle=(3,)) == plain(TWO)


def test_the_line_of_an_operation_may_be_of_a_loop() -> None:
    assert restored(LOOP, (), idle=(3,)) == plain(WRITTEN["a line above a loop"][1])


def test_a_line_that_does_something_is_of_no_loop() -> None:
    body = marked(LOOP)
    lines = Marked(LOOP, (3,))
    lines.busy.add(3)
    restore_idle_lines(body, lines, HEAD)
    assert source_of(body) == plain(LOOP)


@pytest.mark.parametrize("case", PASSES)
def test_an_arm_that_does_nothing(case: str) -> None:
    text, source = PASSES[case]
    body = marked(text)
    restore_passes(body)
    assert source_of(body) == plain(source) != plain(text)


@pytest.mark.parametrize("case", NO_PASSES)
def test_another_return_stays(case: str) -> None:
    body = marked(NO_PASSES[case])
    restore_passes(body)
    assert source_of(body) == plain(NO_PASSES[case])
