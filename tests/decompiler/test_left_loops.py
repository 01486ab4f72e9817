"""What is done where a loop is left: inside of it, or behind it."""

from __future__ import annotations

import ast
import re
import textwrap

import pytest

from depyf.decompiler.passes.source_form.columns import Columns
from depyf.decompiler.passes.source_form.loop_exits import restore_left_loops
from tests.decompiler.placing import placed


def restored(text: str) -> str:
    body = placed(text)
    restore_left_loops(body, Columns(body))
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))


def indented(text: str) -> str:
    """Return a text four columns to the right, also in its places."""
    return re.sub(r"#@ (\d+):(\d+)", lambda mark: f"#@ {mark[1]}:{int(mark[2]) + 4}", textwrap.indent(text, "    "))


ELSE = "    while c: #@ 1:4\n        a() #@ 2:8\n        break\n    else:\n        return\n    d() #@ 3:8"
IN_ELSE = "    while c:\n        a()\n        d()\n        break\n    else:\n        return"
LOOP = "while True: #@ 1:0\n    x() #@ 2:4\n    if a:\n        {}\n    b() #@ 4:4\n"
MOVED = {
    f"{LOOP.format('break')}return c #@ 3:8": LOOP.format("return c"),
    f"{LOOP.format('break')}raise c #@ 3:8": LOOP.format("raise c"),
    f"{LOOP.format('break')}d() #@ 3:8": LOOP.format("d()\n        break"),
    f"{LOOP.format('break')}c() #@ 3:8\nd() #@ 3:12\ne() #@ 5:0": (
        LOOP.format("c()\n        d()\n        break") + "e()"
    ),
    f"{LOOP.format('return c #@ 5:0')}": LOOP.format("break") + "return c",
    "while True: #@ 1:0\n    x() #@ 2:4\n    if a:\n        return c #@ 5:0\n    if b:\n        return c #@ 5:0\n": (
        "while True:\n    x()\n    if a:\n        break\n    if b:\n        break\nreturn c"
    ),
    "while c: #@ 1:0\n    x() #@ 2:4\n    if a:\n        return c #@ 5:0\nreturn c #@ 5:0": (
        "while c:\n    x()\n    if a:\n        break\nreturn c"
    ),
    "while True: #@ 1:0\n    for x in a: #@ 2:4\n        break\n    break\nreturn c #@ 3:8": (
        "while True:\n    for x in a:\n        break\n    return c"
    ),
    "while True: #@ 1:0\n    try:\n        a() #@ 2:8\n        break\n    except b:\n     continue\nreturn c #@ 3:9": (
        "while True:\n    try:\n        a()\n    except b:\n        continue\n    return c"
    ),
    "if x: #@ 0:0\n    while c: #@ 1:4\n        a() #@ 2:8\n        break\n    else:\n        return\n    d() #@ 3:8": (
        "if x:\n    while c:\n        a()\n        d()\n        break"
    ),
    "if x: #@ 0:0\n    while c: #@ 1:4\n        a() #@ 2:8\n        break\n    else:\n     return 1\n    d() #@ 3:8": (
        "if x:\n    while c:\n        a()\n        d()\n        break\n    else:\n        return 1"
    ),
    "while c: #@ 1:0\n    x() #@ 2:4\n    if a:\n        break\nelse:\n    raise b #@ 4:4\nd() #@ 3:8": (
        "while c:\n    x()\n    if a:\n        d()\n        break\nelse:\n    raise b"
    ),
    f"if x: #@ 0:0\n{ELSE}\ne() #@ 9:0": f"if x:\n{IN_ELSE}\ne()",
    f"if x: #@ 0:0\n    if y: #@ 0:4\n{indented(ELSE)}\ne() #@ 9:0": f"if x:\n    if y:\n{indented(IN_ELSE)}\ne()",
    f"for z in x: #@ 0:0\n{ELSE}": f"for z in x:\n{IN_ELSE}",
    f"if x: #@ 0:0\n{ELSE}\n    e() #@ 9:4": f"if x:\n{IN_ELSE}\n    e()",
    "while True: #@ 1:0\n    try:\n        a() #@ 2:8\n        break\n    except b:\n     continue\n    e()\n"
    "return c #@ 3:9": (
        "while True:\n    try:\n        a()\n    except b:\n        continue\n    else:\n        return c\n    e()"
    ),
    "while True: #@ 1:0\n    try:\n        a() #@ 2:8\n    except b:\n        d()\n    else:\n"
    "        return c #@ 5:0": (
        "while True:\n    try:\n        a()\n    except b:\n        d()\n    else:\n        break\nreturn c"
    ),
}
"""What stands to the right of a loop goes into it, a `return` in its column behind it."""
STAYS = {
    "a place below the loop": f"{LOOP.format('break')}return c #@ 5:0",
    "no place": f"{LOOP.format('break')}return c",
    "a loop without a place": f"{LOOP.format('break').replace(' #@ 1:0', '')}return c",
    "two ways out": f"{LOOP.format('break').replace('b() #@ 4:4', 'break')}return c #@ 3:8",
    "no place of the loop or of what is in it": "while True:\n    if a:\n        break\nreturn c #@ 3:8",
    "a way out that is all of a try": (
        "while True: #@ 1:0\n    try:\n        break\n    except b:\n        continue\nreturn c #@ 3:9"
    ),
    "no way out": f"{LOOP.format('continue')}return c #@ 3:8",
    "a loop that ends by itself": f"{LOOP.format('break').replace('while True', 'while c')}return c #@ 3:8",
    "a return to the right of the loop": LOOP.format("return c #@ 3:8"),
    "a return, and another way out": LOOP.format("return c #@ 5:0").replace("b() #@ 4:4", "break"),
    "a return where something follows": LOOP.format("return c #@ 5:0") + "d() #@ 6:0",
    "the return of a loop that ends by itself": LOOP.format("return c #@ 5:0").replace("while True", "while c"),
    "returns in two places": LOOP.format("return c #@ 5:0").replace("b() #@ 4:4", "if b:\n        return c #@ 6:0"),
    "two returns of other places": (
        "while c: #@ 1:0\n    x() #@ 2:4\n    if a:\n        return c #@ 5:0\nreturn c #@ 6:0"
    ),
    "a return behind a loop with an else": (
        "while c: #@ 1:0\n    x() #@ 2:4\n    if a:\n        return c #@ 5:0\nelse:\n    b()\nreturn c #@ 5:0"
    ),
    "a break in a handler": (
        "while True: #@ 1:0\n    try:\n        a() #@ 2:8\n    except b:\n        c()\n        break\nreturn c #@ 3:8"
    ),
    "a break in the else of a try": (
        "while True: #@ 1:0\n    try:\n        a() #@ 2:8\n    except b:\n        continue\n    else:\n        c()\n"
        "        break\nreturn c #@ 3:8"
    ),
    "a return in a try that has an end": (
        "while True: #@ 1:0\n    try:\n        a()\n    except b:\n        c()\n    else:\n        return c #@ 5:0\n"
        "    finally:\n        d()\n"
    ),
    "a way out that is all of a try, behind something": (
        "while True: #@ 1:0\n    x() #@ 2:4\n    try:\n        break\n    except b:\n     continue\nreturn c #@ 3:9"
    ),
    "a way out of a with": "while True: #@ 1:0\n    with a: #@ 2:4\n        b() #@ 3:8\n        break\nreturn c #@ 4:8",
    "a way out of a try with an else": (
        "while True: #@ 1:0\n    try:\n        a() #@ 2:8\n        break\n    except b:\n        d()\n    else:\n"
        "        e()\nreturn c #@ 3:9"
    ),
    "a way out of a try with an else, whose clauses leave": (
        "while True: #@ 1:0\n    try:\n        a() #@ 2:8\n        break\n    except b:\n        continue\n    else:\n"
        "        e()\nreturn c #@ 3:9"
    ),
    "a return without a place in a loop without one": "while True:\n    x() #@ 2:4\n    if a:\n        return c",
    "something else in the place of the return": (
        "while c: #@ 1:0\n    x() #@ 2:4\n    if a:\n        return c #@ 5:0\nd() #@ 5:0"
    ),
    "a return in a with": "while True: #@ 1:0\n    with a:\n        return c #@ 5:0\n",
    "a return in a try": "while True: #@ 1:0\n    try:\n        return c #@ 5:0\n    except a:\n        b() #@ 3:4\n",
}


def plain(text: str) -> str:
    return ast.unparse(ast.parse(text))


@pytest.mark.parametrize("text", MOVED)
def test_what_is_moved(text: str) -> None:
    assert restored(text) == plain(MOVED[text])


@pytest.mark.parametrize("why", STAYS)
def test_what_stays(why: str) -> None:
    assert restored(STAYS[why]) == plain(STAYS[why])
