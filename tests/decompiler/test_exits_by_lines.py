"""Exits that the compiler copied or moved, with their lines: `break  #7` stands on line 7 of the source."""

from __future__ import annotations

import pytest
from depyf.decompiler.passes.source_form.exits_by_lines import restore_exits_by_lines

from tests.decompiler.placing import Marked, marked, plain, source_of

TRY = "while x:  #1\n    try:\n        a()  #3\n        break{}\n    except E:  #4\n        {}"
BEHIND = TRY.format("  #7", "b()  #5")
FINALLY = "try:\n    a()  #2\nfinally:\n    b()  #5\nreturn 1  #4"
COPIES = "if a:  #1\n    b()  #2\n    return\nelse:\n    c()  #4\n    return  #6"

MOVED = {
    "two lines below the clauses: an else": (
        BEHIND,
        "while x:\n    try:\n        a()\n    except E:\n        b()\n    else:\n        break",
        (),
    ),
    "a line without an operation, below the clauses": (
        TRY.format("", "b()  #5"),
        "while x:\n    try:\n        a()\n    except E:\n        b()\n    else:\n        break",
        (7,),
    ),
    "the line of a clause's `pass`, and one below": (
        TRY.format("", "pass"),
        "while x:\n    try:\n        a()\n    except E:\n        pass\n    else:\n        break",
        (5, 7),
    ),
    "a clause with nothing but its head": (
        TRY.format("  #7", "pass"),
        "while x:\n    try:\n        a()\n    except E:\n        pass\n    else:\n        break",
        (),
    ),
    "right below clauses that leave": (
        TRY.format("  #6", "raise b  #5"),
        "while x:\n    try:\n        a()\n    except E:\n        raise b\n    break",
        (),
    ),
    "a constant below the clauses": (
        "try:\n    a()  #2\n    return 1  #6\nexcept:  #3\n    b()  #4",
        "try:\n    a()\nexcept:\n    b()\nelse:\n    return 1",
        (),
    ),
    "a return of a constant on a line of its `finally`": (
        FINALLY,
        "try:\n    a()\n    return 1\nfinally:\n    b()",
        (),
    ),
    "copies before a return with a line": (
        "if a:  #1\n    b()  #2\n    return\nelse:\n    c()  #4\nreturn  #6",
        "if a:\n    b()\nelse:\n    c()\nreturn",
        (),
    ),
    "copies in both arms": (COPIES, "if a:\n    b()\nelse:\n    c()\nreturn", ()),
    "copies of a constant": (
        COPIES.replace("return", "return 1"),
        "if a:\n    b()\nelse:\n    c()\nreturn 1",
        (),
    ),
    "copies in the arms of arms": (
        "if a:  #1\n    if b:  #2\n        c()  #3\n        return\n    else:\n        d()  #5\n        return\n"
        "else:\n    e()  #7\n    return  #9",
        "if a:\n    if b:\n        c()\n    else:\n        d()\nelse:\n    e()\nreturn",
        (),
    ),
    "copies beside another exit": (
        "if a:  #1\n    b()  #2\n    return\nelif d:  #3\n    raise e  #4\nelse:\n    c()  #6\n    return  #8",
        "if a:\n    b()\nelif d:\n    raise e\nelse:\n    c()\nreturn",
        (),
    ),
    "copies of a break in a loop": (
        "while x:  #1\n    if a:  #2\n        b()  #3\n        break\n    else:\n        c()  #5\n        break  #7",
        "while x:\n    if a:\n        b()\n    else:\n        c()\n    break",
        (),
    ),
    "copies in both arms of an arm": (
        "if a:  #1\n    if b:  #2\n        c()  #3\n        return\n    else:\n        d()  #5\n        return  #7",
        "if a:\n    if b:\n        c()\n    else:\n        d()\n    return",
        (),
    ),
}
STAYS = {
    "one line below clauses that go on": (TRY.format("  #6", "b()  #5"), ()),
    "nothing before it in the `try`": (BEHIND.replace("        a()  #3\n", ""), ()),
    "a `continue`": (BEHIND.replace("break", "continue"), ()),
    "a value that is computed": ("try:\n    a()  #2\n    return c()  #6\nexcept:\n    b()  #4", ()),
    "its line is in the body": (TRY.format("  #3", "b()  #5"), ()),
    "clauses without lines": ("try:\n    a()\n    return 1  #6\nexcept:\n    pass", ()),
    "a `try` with an `else`": (BEHIND + "\n    else:\n        c()  #8", ()),
    "a line without an operation above the clauses": (TRY.format("", "b()  #6").replace("#4", "#5"), (4, 8)),
    "no line below the clauses": (TRY.format("", "b()  #5"), ()),
    "the line of a clause's `pass` alone": (TRY.format("", "pass"), (5,)),
    "a return below a `finally`": (FINALLY.replace("#4", "#6"), ()),
    "a return without a line behind a `finally`": (FINALLY.replace("  #4", ""), ()),
    "a return of nothing behind a `finally`": (FINALLY.replace(" 1", ""), ()),
    "a computed value behind a `finally`": (FINALLY.replace(" 1", " c()"), ()),
    "no return behind a `finally`": (FINALLY.replace("return 1", "c()"), ()),
    "more behind a `finally`": (FINALLY + "\nc()", ()),
    "a `finally` behind a raise": (FINALLY.replace("a()", "raise a"), ()),
    "a `finally` behind a test": (FINALLY.replace("a()  #2", "if a:  #1\n        c()  #2"), ()),
    "a `finally` with clauses": (FINALLY.replace("finally", "except E:\n    c()  #3\nfinally"), ()),
    "an arm that is nothing but the exit": ("if a:  #1\n    return\nelse:\n    c()  #4\n    return  #6", ()),
    "an arm that is below the exit": (COPIES.replace("#4", "#7"), ()),
    "copies of a value that is computed": (COPIES.replace("return", "return d()"), ()),
    "one copy, and another exit": (COPIES.replace("return\n", "raise d\n"), ()),
    "other exits": ("while x:  #1\n    if a:  #1\n        b()  #2\n        continue\n    else:\n        break  #6", ()),
    "exits of other values": (COPIES.replace("return\n", "return 1\n"), ()),
    "exits with lines of their own": (COPIES.replace("return\n", "return  #3\n"), ()),
    "exits without lines": (COPIES.replace("  #6", ""), ()),
    "something behind them": (COPIES + "\nd()", ()),
    "a statement with a line behind them": (COPIES + "\nd()  #9", ()),
    "copies beside an arm that goes on": (
        "if a:  #1\n    b()  #2\n    return\nelif d:  #3\n    e()  #4\nelse:\n    c()  #6\n    return  #8",
        (),
    ),
    "copies without an `else`": (
        "if a:  #1\n    b()  #2\n    return\nelif d:  #3\n    c()  #4\n    return  #6",
        (),
    ),
}


def restored(text: str, idle: tuple[int, ...]) -> str:
    body = marked(text)
    restore_exits_by_lines(body, Marked(text, left=idle))
    return source_of(body)


@pytest.mark.parametrize("case", MOVED)
def test_an_exit_stands_where_its_line_is(case: str) -> None:
    text, source, idle = MOVED[case]
    assert restored(text, idle) == plain(source) != plain(text)


@pytest.mark.parametrize("case", STAYS)
def test_another_exit_stays(case: str) -> None:
    text, idle = STAYS[case]
    assert restored(text, idle) == plain(text)
