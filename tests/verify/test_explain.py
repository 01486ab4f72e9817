"""The first difference is shown with both listings side by side."""

from __future__ import annotations

import re

from depyf.verify.compare import verify
from depyf.verify.explain import explain
from tests.verify.assemble import view


def test_it_shows_offsets_lines_and_the_place() -> None:
    first, other = view("def f(a, b):\n a()\n return b.x"), view("def f(a, b):\n a()\n return b.y")
    text = explain(verify(first, other), before=2, after=1)
    # Offsets differ from version to version.
    assert re.sub(r" +\d+(?= )", " N", text).splitlines() == [
        "UNPROVEN: f: LOAD_ATTR x is not LOAD_ATTR y (original offset N LOAD_ATTR, candidate offset N LOAD_ATTR)",
        "  original f (<test>:1)                                | candidate f (<test>:1)",
        "  line offset                                          | line offset",
        "  :2 N  POP                                     | :2 N  POP",
        "  :3 N  LOAD_FAST 'b'                           | :3 N  LOAD_FAST 'b'",
        "> :3 N  LOAD_ATTR 'x'                           | :3 N  LOAD_ATTR 'y'",
        "  :3 N  RETURN                                  | :3 N  RETURN",
    ]


def test_it_shows_the_nested_code_that_differs() -> None:
    first, other = view("def f(a, b): return lambda: b.x"), view("def f(a, b): return lambda: b.y")
    assert "original f.<locals>.<lambda>" in explain(verify(first, other))


def test_headers_have_no_place() -> None:
    first, other = view("def f(a): pass"), view("def f(b): pass")
    verdict = verify(first, other)
    assert explain(verdict) == str(verdict)


def test_exact_is_one_word() -> None:
    assert explain(verify(view("def f(a): pass"), view("def f(a): pass"))) == "EXACT"


def test_members_of_a_set_have_one_order() -> None:
    first, other = view("def f(a): return a in {'b', 'c', 'a'}"), view("def f(a): return a in {'d', 'c', 'a'}")
    assert "frozenset({'a', 'b', 'c'}) is not frozenset({'a', 'c', 'd'})" in explain(verify(first, other))
