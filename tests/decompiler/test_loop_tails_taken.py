"""What stands before the only `break` of a loop, and is the head of the next: text in, text out."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.lift.nodes import Temp
from depyf.decompiler.passes.flow.loop_tails import take_tail
from depyf.decompiler.show import tree
from depyf.decompiler.show.read_tree import read_tree
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b, c, x): pass")


def taken(text: str, iterator: ast.expr | None = None) -> tuple[str, str]:
    """Return what is taken out of the only statement of a text, and what is left."""
    loop = read_tree(text, CODE)[0]
    assert isinstance(loop, ast.stmt)
    tail = take_tail(loop, Temp(temp=1) if iterator is None else iterator)
    grammar = Grammar.of(CODE)
    return tree.text(tail, grammar) if tail else "", tree.text([loop], grammar)


LAST = "while True:\n    if c:\n        a()\n        continue\n    b()\n    v1 = x\n    break\n"
TAKEN = {
    LAST: ("b()\nv1 = x\n", "while True:\n    if c:\n        a()\n        continue\n    break\n"),
    "while True:\n    v1 = x\n    break\n": ("v1 = x\n", "while True:\n    break\n"),
    "while True:\n    if c:\n        if a:\n            b()\n            v1 = x\n            break\n    a()\n": (
        "b()\nv1 = x\n",
        "while True:\n    if c:\n        if a:\n            break\n    a()\n",
    ),
    "while True:\n    if c:\n        a()\n    else:\n        if b:\n            pass\n        v1 = x\n"
    "        break\n": (
        "if b:\n    pass\nv1 = x\n",
        "while True:\n    if c:\n        a()\n    else:\n        break\n",
    ),
    "while True:\n    for a in b:\n        break\n    v1 = x\n    break\n": (
        "v1 = x\n",
        "while True:\n    for a in b:\n        break\n    break\n",
    ),
    "while True:\n    while a:\n        break\n    else:\n        b()\n    v1 = x\n    break\n": (
        "v1 = x\n",
        "while True:\n    while a:\n        break\n    else:\n        b()\n    break\n",
    ),
}
LEFT = {
    "a test of its own": "while a:\n    v1 = x\n    break\n",
    "an else": "while True:\n    v1 = x\n    break\nelse:\n    a()\n",
    "no while": "for a in b:\n    v1 = x\n    break\n",
    "two ways out": "while True:\n    if c:\n        break\n    v1 = x\n    break\n",
    "no way out": "while True:\n    v1 = x\n",
    "something behind the way out": "while True:\n    v1 = x\n    break\n    a()\n",
    "nothing before the way out": "while True:\n    break\n",
    "no assignment": "while True:\n    v1\n    break\n",
    "another target": "while True:\n    v2 = x\n    break\n",
    "a variable": "while True:\n    a = x\n    break\n",
    "a way out of an else": "while True:\n    while a:\n        b()\n    else:\n        v1 = x\n        break\n",
    "a way out in a try": "while True:\n    try:\n        v1 = x\n        break\n    except a:\n        b()\n",
    "a way out in a handler": "while True:\n    try:\n        b()\n    except a:\n        v1 = x\n        break\n",
    "a way out behind a try": "while True:\n    try:\n        b()\n    except a:\n        b()\n    else:\n"
    "        v1 = x\n        break\n",
    "a way out in the end": "while True:\n    try:\n        b()\n    finally:\n        v1 = x\n        break\n",
    "a way out in a case": "while True:\n    match a:\n        case 1:\n            v1 = x\n            break\n",
    "another in a try": "while True:\n    try:\n        break\n    except a:\n        b()\n    v1 = x\n    break\n",
    "another in a handler": "while True:\n    try:\n        b()\n    except a:\n        break\n    v1 = x\n    break\n",
    "another in a case": "while True:\n    match a:\n        case 1:\n            break\n    v1 = x\n    break\n",
    "another in an else": "while True:\n    while a:\n        b()\n    else:\n        break\n    v1 = x\n    break\n",
    "another in the else of a for": "while True:\n    for a in b:\n        b()\n    else:\n        break\n    v1 = x\n"
    "    break\n",
    "another in an if": "while True:\n    if a:\n        b()\n    else:\n        break\n    v1 = x\n    break\n",
}


@pytest.mark.parametrize("text", TAKEN)
def test_what_leads_to_the_next_loop_is_taken(text: str) -> None:
    assert taken(text) == TAKEN[text]


@pytest.mark.parametrize("why", LEFT)
def test_all_else_stays(why: str) -> None:
    assert taken(LEFT[why]) == ("", LEFT[why])


def test_an_iterator_that_waits_nowhere_takes_nothing() -> None:
    assert taken(LAST, ast.Name("a", ast.Load())) == ("", LAST)
