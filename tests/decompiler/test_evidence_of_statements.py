"""Statements without operations of their own, by the locations that they have left."""

from __future__ import annotations

import pytest

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Instruction
from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from depyf.decompiler.passes.source_form.evidence import (
    Unclaimed,
    is_cleanup,
    is_none,
    leaves,
    unclaimed,
    written_statements,
)

UNIT = 4


def shown(source: str) -> list[tuple[int, int | None, str]]:
    """Return the statements of a function that its locations show."""
    module = read(compile(source, "<form>", "exec"))
    code = next((const for const in module.consts if isinstance(const, Code)), module)
    listing = normalise(code)
    statements = written_statements(listing, unclaimed(listing), lambda: UNIT)
    return [(statement.line, statement.column, statement.kind.value) for statement in statements]


@pytest.mark.parametrize(
    ("source", "statements"),
    [
        ("def f(a):\n    a()\n    return", [(3, 4, "return")]),
        ("def f(a):\n    a()\n    return None", [(3, 4, "return None")]),
        ("def f(a):\n    a()", []),
        ("def f(a):\n    if a:\n        return\n    a()", [(3, 8, "return")]),
        ("def f(a):\n    while a:\n        if a():\n            continue\n        a.b()", [(4, 12, "continue")]),
        ("def f(a):\n    while a:\n        if a():\n            break\n        a()\n    return a", [(4, 12, "break")]),
        ("def f(a):\n    if a:\n        pass\n    else:\n        a()", [(3, 8, "pass")]),
        ("def f(a):\n    if a: return\n    a()", [(2, 10, "return")]),
        ("def f(a):\n    if (a): return\n    a()", [(2, 12, "return")]),
        ("def f(a):\n    if (((a))): return\n    a()", [(2, 16, "return")]),
        ("def f(a): return", [(1, 10, "return")]),
        ("def fgh(a): return None", [(1, 12, "return None")]),
        ("def f(a):\n   a()\n   pass", [(3, 3, "pass")]),
        ("def f(a):\n    a.bcd; return", [(2, 11, "return")]),
        ("def f(a):\n    while a:\n        if a.bc: break\n        a()\n    return a", [(3, 17, "break")]),
        ("def f(a):\n    while 12345:\n        a()", []),
        ("def f(a):\n    return a", []),
        ("def f(a):\n    try:\n        a()\n    except E as e:\n        pass", [(5, 8, "pass")]),
    ],
)
def test_statements_of_the_source(source: str, statements: list[tuple[int, int, str]]) -> None:
    assert shown(source) == statements


def test_without_locations_there_are_none() -> None:
    listing = normalise(read(compile("def f(a):\n    a()\n    return", "<form>", "exec")))
    listing.places = []
    assert unclaimed(listing) == Unclaimed(set(), set(), set())
    assert written_statements(listing, unclaimed(listing), lambda: UNIT) == []


@pytest.mark.parametrize(
    ("source", "place", "free", "idle"),
    [
        ("def f(a):\n    if a:\n        return\n    a()", (3, 8), True, False),
        ("def f(a):\n    if a:\n        pass\n    a()", (3, 8), True, True),
        ("def f(a):\n    while a:\n        if a():\n            continue\n        a.b()", (4, 12), True, True),
        ("def f(a):\n    return 1", (2, 11), False, False),
        ("def f(a):\n    a\n    a()", (2, 4), False, False),
        ("def f(a):\n    try:\n        a()\n    except E as e:\n        return 1\n    a()", (5, 15), False, False),
    ],
)
def test_locations_that_no_operation_claims(source: str, place: tuple[int, int], free: bool, idle: bool) -> None:
    module = read(compile(source, "<form>", "exec"))
    left = unclaimed(normalise(next(const for const in module.consts if isinstance(const, Code))))
    assert (place in {position[:2] for position in left.places}, place in {position[:2] for position in left.idle}) == (
        free,
        idle,
    )
    assert (place in {position[:2] for position in left.others if position is not None}) is not free
    assert left.idle <= left.places and left.places.isdisjoint(left.others)


def rows(*pairs: tuple[str, object]) -> list[Instruction]:
    return [Instruction(op, arg, -1, 2 * number, None, -1) for number, (op, arg) in enumerate(pairs)]


CLEANUP = rows(("CONST", None), ("STORE_FAST", "e"), ("DELETE_FAST", "e"))


def test_an_instruction_that_loads_none() -> None:
    assert is_none(rows(("CONST", None))[0])
    assert not is_none(rows(("CONST", 1))[0])
    assert not is_none(rows(("LOAD_FAST", None))[0])


def test_instructions_that_unbind_a_name() -> None:
    assert is_cleanup(CLEANUP)
    assert not is_cleanup(rows(("CONST", 1), ("STORE_FAST", "e"), ("DELETE_FAST", "e")))
    assert not is_cleanup(rows(("CONST", None), ("STORE_FAST", "e"), ("DELETE_FAST", "f")))
    assert not is_cleanup(CLEANUP[:2])


@pytest.mark.parametrize("op", ["RETURN", "POP", "JUMP", "COPY"])
def test_ways_out(op: str) -> None:
    assert leaves(rows((op, None)), 0)
    assert leaves(rows((op, 1)), 0)


def test_what_may_have_the_location_of_another_statement() -> None:
    assert [leaves(CLEANUP, number) for number in range(3)] == [True, True, True]
    assert not leaves(rows(("CONST", 1)), 0)
    assert not leaves(rows(("LOAD_FAST", "e")), 0)
    assert not leaves(rows(("CONST", 1), ("STORE_FAST", "e"), ("DELETE_FAST", "e")), 1)
    assert not leaves(rows(("STORE_FAST", "e"), ("DELETE_FAST", "e")), 0)
    assert not leaves(rows(("STORE_FAST", "e"), ("DELETE_FAST", "e")), 1)
    other = rows(("CONST", None), ("LOAD_FAST", "e"), ("DELETE_FAST", "e"))
    assert not leaves(other, 1)
