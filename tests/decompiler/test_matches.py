"""Tests of one value that become `match`: `v1` and `v2` are temporaries, `m` tests whether `a` is a list of one.

`r` tests a value that is still pending, which refers to `v1`.
"""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.lift.nodes import EMPTY, PURE, Entry, MatchTest, Ref, Temp
from depyf.decompiler.passes.flow.matches import restore_matches
from tests.decompiler.parsed import parsed, shown

HEAD = "v1 = a\n"
TWO = HEAD + "if v1 == 2:\n    b()\nel"
ONE_CASE = "match a:\n    case 2:\n        b()\n"


def text_of(text: str, *, restored: bool = True) -> str:
    """Return statements as text, with `match` restored or as they are."""
    pending = Ref(entry=Entry(1, Temp(temp=1), PURE, EMPTY, EMPTY, 1, None))
    subjects = {"m": ast.Name(id="a", ctx=ast.Load()), "r": pending}
    pattern = ast.MatchSequence(patterns=[ast.MatchAs()])
    stmts = parsed(
        text, nodes={name: MatchTest(subject=subject, pattern=pattern) for name, subject in subjects.items()}
    )
    return shown(restore_matches(stmts) if restored else stmts)


MATCHES = {
    "a name under a condition": (
        HEAD + "if b:\n    c = v1\n    d()",
        "match a:\n    case _ if not b:\n        pass\n    case c:\n        d()\n",
    ),
    "a match under a condition": (
        HEAD + "if b:\n    match v1:\n        case 3:\n            d()",
        "match a:\n    case _ if not b:\n        pass\n    case 3:\n        d()\n",
    ),
    "a guard that skips if it is None": (
        TWO + "if b is not None:\n    if v1 == 3:\n        d()",
        ONE_CASE + "    case _ if not b is not None:\n        pass\n    case 3:\n        d()\n",
    ),
    "a guard that skips if another value is None": (
        TWO + "if v2 is not None:\n    if v1 == 3:\n        d()",
        ONE_CASE + "    case _ if not v2 is not None:\n        pass\n    case 3:\n        d()\n",
    ),
    "a test of another value behind a pattern": (
        "if m:\n    b()\nelif v1 == 2:\n    d()",
        "match a:\n    case [_]:\n        b()\n    case _:\n        if v1 == 2:\n            d()\n",
    ),
    "a pending value, which a body uses": (
        "if r:\n    c = v1\nelse:\n    d()",
        "match v1:\n    case [_]:\n        c = v1\n    case _:\n        d()\n",
    ),
    "values of one case that does nothing": (
        HEAD + "if v1 == 1 or v1 == 2:\n    pass\nelif v1 == 3:\n    d()",
        "match a:\n    case 1 | 2:\n        pass\n    case 3:\n        d()\n",
    ),
}
STAYS = {
    "a match of another value under a condition": HEAD + "if b:\n    match v2:\n        case 3:\n            c = v1",
    "a case whose body uses the value": TWO + "if v1 == 1:\n    c = v1",
    "a pattern behind another test": "if b and m:\n    d()",
    "an object of a name": TWO + "if v1 is b:\n    d()",
}


@pytest.mark.parametrize("what", MATCHES)
def test_tests_of_one_value_become_match(what: str) -> None:
    before, after = MATCHES[what]
    assert text_of(before) == after


@pytest.mark.parametrize("what", STAYS)
def test_other_tests_stay(what: str) -> None:
    assert text_of(STAYS[what]) == text_of(STAYS[what], restored=False)
