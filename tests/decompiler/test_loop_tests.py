"""The two copies of a loop's test: only whole ones get numbers of their own."""

from __future__ import annotations

from depyf.bytecode.reader import read
from depyf.decompiler.show.read_graph import read_graph
from depyf.decompiler.structure.loop_tests import part_loop_tests

IN_AN_IF = """
block 0
  v0 = LOAD_FAST 'a'
  -> 1 if v0 else 9
block 1
  v1 = LOAD_FAST 'b'
  -> 2 if v1 else 9
block 2
  v2 = LOAD_GLOBAL 'g'
  v3 = CALL () v2
  POP v3
  v4 = LOAD_FAST 'b'
  -> 2 if v4 else 9
block 9
  return
"""
ANOTHER_TEST_AT_THE_END = IN_AN_IF.replace("v4 = LOAD_FAST 'b'", "v4 = LOAD_FAST 'c'")
A_VALUE_WAITS = """
block 0
  v0 = LOAD_FAST 'a'
  v1 = LOAD_FAST 'b'
  -> 1 if v1 else 9
block 1
  v2 = COMPARE '==' v0 v1
  -> 2 if v2 else 9
block 2
  v3 = LOAD_FAST 'a'
  v4 = LOAD_FAST 'c'
  -> 3 if v4 else 9
block 3
  v5 = COMPARE '==' v3 v4
  -> 2 if v5 else 9
block 9
  return
"""

CALLED = """  v1 = LOAD_GLOBAL 'h'
  v2 = CALL () v1
  POP v2
"""
CODE_BETWEEN = """
block 0
  v0 = LOAD_FAST 'a'
  -> 1 if v0 else 9
block 1
  v1 = LOAD_GLOBAL 'h'
  v2 = CALL () v1
  POP v2
  v3 = LOAD_FAST 'b'
  -> 2 if v3 else 9
block 2
  v4 = LOAD_FAST 'a'
  -> 3 if v4 else 9
block 3
  v5 = LOAD_FAST 'b'
  -> 2 if v5 else 9
block 9
  return
"""
IN_TWO_FORS = """
block 0
  v0 = LOAD_FAST 'a'
  -> for v1 in v0: 1, else 9
block 1
  v2 = LOAD_FAST 'b'
  -> 2 if v2 else 9
block 2
  v3 = LOAD_FAST 'a'
  -> for v4 in v3: 3, else 9
block 3
  v5 = LOAD_FAST 'b'
  -> 2 if v5 else 9
block 9
  return
"""


def numbers(text: str) -> list[int]:
    """Return the numbers of the blocks of a graph, all 0 before, those cut off last."""
    graph = read_graph(text.strip("\n") + "\n", read((lambda: 0).__code__))
    labels = [block.index for block in graph.live()]
    scope = dict.fromkeys(labels, 0)
    part_loop_tests(graph, dict.fromkeys(labels, ()), scope)
    return [scope.get(block.index, 0) for block in graph.live()]


def test_both_copies_have_numbers_of_their_own() -> None:
    first, before, body, end, last = numbers(IN_AN_IF)
    assert (first, body, end) == (0, 0, 0)
    assert len({0, before, last}) == 3


def test_another_test_is_no_copy() -> None:
    assert set(numbers(ANOTHER_TEST_AT_THE_END)) == {0}


def test_a_copy_for_which_a_value_waits_is_not_whole() -> None:
    assert set(numbers(A_VALUE_WAITS)) == {0}


def test_a_longer_test_at_the_end_is_another_one() -> None:
    before = IN_AN_IF.replace("-> 2 if v1", "v5 = UNARY_NOT v1\n  -> 2 if v5")
    end = "v4 = LOAD_FAST 'b'\n  v6 = UNARY_NOT v4\n  {}-> 2 if v{}"
    assert len(set(numbers(before.replace("v4 = LOAD_FAST 'b'\n  -> 2 if v4", end.format("", 6))))) > 1
    longer = end.format("v7 = UNARY_NOT v6\n  ", 7)
    assert set(numbers(before.replace("v4 = LOAD_FAST 'b'\n  -> 2 if v4", longer))) == {0}


def test_a_test_before_other_code_is_no_part_of_the_loops_test() -> None:
    first, before, second, last, end, test = numbers(CODE_BETWEEN)
    assert (first, before, second, end) == (0, 0, 0, 0)
    assert len({0, last, test}) == 3
    assert 0 not in numbers(CODE_BETWEEN.replace(CALLED, ""))[:4]


def test_the_head_of_a_for_is_no_part_of_the_loops_test() -> None:
    first, before, second, last, end = numbers(IN_TWO_FORS)
    assert (first, second, end) == (0, 0, 0)
    assert len({0, before, last}) == 3
