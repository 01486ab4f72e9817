"""Whether two blocks end with copies of the same code: blocks 1 and 2 of a graph as text."""

from __future__ import annotations

import pytest

from depyf.decompiler.structure.copied_ends import Copies
from tests.decompiler.located import located
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a, b, c): pass")
HEAD = "block 0; v0 = LOAD_FAST 'a'; v1 = LOAD_FAST 'b'; -> 1 if v0 else 2\n"
FREE = 9


def copies(first: str, second: str, rest: str = "", places: tuple[int, int] = (0, 0)) -> Copies | None:
    """Return the walk over two blocks, each given without its head; None if they are no copies."""
    graph = located(f"{HEAD}block 1; {first}\nblock 2; {second}\n{rest}", CODE)
    walk = Copies(graph, FREE)
    return walk if walk.same(graph.block(1), places[0], graph.block(2), places[1]) else None


ENDS = "block 3; return v0\nblock 4; return v1\n"
ENDS_ALIKE = "block 3; return v0\nblock 4; return v0\n"
WAYS_ON = "block 3; POP v0; -> 5\nblock 4; POP v0; -> 5\nblock 5; return\n"
TAKEN = "block 3 (v5); return v0\nblock 4 (v6); return v0\n"
PROTECTED = "block 3  [handler 0: block 5]; return v0\nblock 4; return v0\nblock 5; reraise v50\n"
SAME = {
    "one value": ("return v0", "return v0", ""),
    "values made": ("v2 = CALL () v0; return v2", "v3 = CALL () v0; return v3", ""),
    "any value for the free one": ("v2 = CALL () v9; return v2", "v3 = CALL () v1; return v3", ""),
    "lines of returns": ("return v0  :3", "return v0  :3", ""),
    "exceptions": ("raise v0, v1  :3", "raise v0, v1  :3", ""),
    "exceptions raised again": ("reraise v0", "reraise v0", ""),
    "one way on": ("-> 3", "-> 3", "block 3; POP v0; -> 4\nblock 4; return\n"),
    "one way on with values": ("-> 3 (v0)", "-> 3 (v0)", "block 3 (v5); return v5\n"),
    "ways to copies of an end": ("-> 3", "-> 4", ENDS_ALIKE),
    "ways to copies that raise": ("-> 3", "-> 4", ENDS_ALIKE.replace("return", "raise")),
    "ways to copies that raise again": ("-> 3", "-> 4", ENDS_ALIKE.replace("return", "reraise")),
    "ways to copies of the end of a handler": ("-> 3", "-> 4", WAYS_ON.replace("POP", "POP_EXCEPT")),
    "drops without locations": ("POP v0; return", "POP v0; return", ""),
    "a drop with a location and one at a merge": ("POP v0 @4-9; return", "POP v0; return", ""),
    "a drop behind a part of the expression": ("POP v0 @4-20; return", "POP v0 @8-12; return", ""),
    "a drop behind all of the expression": ("POP v0 @8-12; return", "POP v0 @4-20; return", ""),
    "drops behind one expression": (":3 POP v0 @4-20; return", ":3 POP v0 @4-20; return", ""),
    "a drop on no line": (":3 POP v0; return", "POP v0; return", ""),
}
OTHER = {
    "other values": ("return v0", "return v1", ""),
    "other lines of returns": ("return v0  :3", "return v0  :4", ""),
    "other lines of exceptions": ("raise v0  :3", "raise v0  :4", ""),
    "more exceptions": ("raise v0, v1", "raise v0", ""),
    "more in the second": ("POP v0; return", "POP v0; POP v1; return", ""),
    "more in the first": ("POP v0; POP v1; return", "POP v0; return", ""),
    "other operations": ("v2 = CALL () v0; return", "v2 = GET_ITER v0; return", ""),
    "other operands": ("v2 = CALL () v0; return", "v2 = CALL () v1; return", ""),
    "two values for the free one": ("v2 = CALL () v9 v9; return", "v2 = CALL () v0 v1; return", ""),
    "other lines of operations": (":3 v2 = CALL () v0; return", ":4 v2 = CALL () v0; return", ""),
    "operations with a line and without": (":3 v2 = CALL () v0; return", "v2 = CALL () v0; return", ""),
    "other exceptions raised again": ("reraise v0", "reraise v1", ""),
    "other ends": ("return v0", "raise v0", ""),
    "tests": ("-> 3 if v0 else 4", "-> 3 if v0 else 4", ENDS),
    "one way on with other values": ("-> 3 (v0)", "-> 3 (v1)", "block 3 (v5); return v5\n"),
    "ways to other ends": ("-> 3", "-> 4", ENDS),
    "ways to copies that go on": ("-> 3", "-> 4", WAYS_ON),
    "ways with values to copies": ("-> 3 (v0)", "-> 4 (v0)", TAKEN),
    "ways to copies with another handler": ("-> 3", "-> 4", PROTECTED),
    "a drop and the end of a handler": ("POP v0; return", "POP_EXCEPT v0; return", ""),
    "drops behind other expressions": ("POP v0 @4-9; return", "POP v0 @12-20; return", ""),
    "drops behind expressions that overlap": ("POP v0 @4-12; return", "POP v0 @9-20; return", ""),
    "other lines of drops": (":3 POP v0; return", ":4 POP v0; return", ""),
}


@pytest.mark.parametrize("what", SAME)
def test_copies(what: str) -> None:
    assert copies(*SAME[what])


@pytest.mark.parametrize("what", OTHER)
def test_no_copies(what: str) -> None:
    assert not copies(*OTHER[what])


def test_only_what_is_behind_the_places_is_compared() -> None:
    assert copies("POP v0; POP v1; return", "POP v1; return", places=(1, 0))
    assert copies("POP v1; return", "POP v0; POP v1; return", places=(0, 1))


def test_values_of_the_second_copy_are_told() -> None:
    walk = copies("v2 = CALL () v9; return v2", "v3 = CALL () v1; return v3")
    assert walk is not None
    assert walk.renamed == {2: 3, FREE: 1}
