"""What parts and gathers groups of exceptions where no `except*` stands: graphs as text."""

from __future__ import annotations

import pytest

from depyf.decompiler.show.graph import text
from depyf.decompiler.show.read_graph import read_graph
from depyf.decompiler.structure.dispatch.groups import check_groups, expand_groups, is_raised_alone, splits
from depyf.decompiler.structure.unstructured import Unstructured
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): pass")
PARTED = """\
block 0
  :1     v0 = LOAD_FAST 'a'
  :1     v1 v2 = CHECK_EG_MATCH v0 v0
  :1     v3 v4 = CHECK_EG_MATCH v1 v0
  :1     POP v3
  -> 1
block 1
  :1     POP v2
  reraise v0
"""
GATHERED = PARTED.replace("v3 v4 = CHECK_EG_MATCH v1 v0", "v3 = PREP_RERAISE_STAR v1 v0")
TESTED = PARTED.replace("v1 v2 =", "v1 =").replace("v3 v4 =", "v3 =").replace("POP v2", "POP v0")


@pytest.mark.parametrize("shown", [PARTED, GATHERED, GATHERED.replace("v1 v2 = CHECK_EG_MATCH", "v1 v2 = UNPACK_EX")])
def test_a_group_is_parted_by_no_statement(shown: str) -> None:
    with pytest.raises(Unstructured):
        check_groups(read_graph(shown, CODE))


def test_the_test_of_a_clause_is_left_to_the_clause() -> None:
    check_groups(read_graph(TESTED, CODE))


def expanded(shown: str) -> tuple[bool, str]:
    graph = read_graph(shown, CODE)
    gathers = expand_groups(graph)
    return gathers, text(graph)


def test_blocks_end_where_a_group_is_parted() -> None:
    assert expanded(PARTED) == (
        False,
        """\
block 0
  :1     v0 = LOAD_FAST 'a'
  :1     v1 v2 = SPLIT v0 v0
  -> 2
block 1
  :1     POP v2
  reraise v0
block 2
  :1     v3 v4 = SPLIT v1 v0
  -> 3
block 3
  :1     POP v3
  -> 1
""",
    )


def test_what_raises_again_stands_alone_where_groups_are_gathered() -> None:
    assert expanded(GATHERED) == (
        True,
        """\
block 0
  :1     v0 = LOAD_FAST 'a'
  :1     v1 v2 = SPLIT v0 v0
  -> 2
block 1
  :1     POP v2
  -> 3
block 2
  :1     v3 = GATHER v1 v0
  :1     POP v3
  -> 1
block 3
  reraise v0
""",
    )
    alone = GATHERED.replace("  :1     POP v2\n", "")
    assert "block 1\n  reraise v0\nblock 2\n" in expanded(alone)[1]
    assert "block 3" not in expanded(alone)[1]


def test_what_parts_no_group_stays() -> None:
    plain = "block 0\n  :1     v0 = LOAD_FAST 'a'\n  return v0\n"
    assert expanded(plain) == (False, plain)
    check_groups(read_graph(plain, CODE))


def test_what_a_block_ends_with() -> None:
    graph = read_graph(GATHERED, CODE)
    expand_groups(graph)
    assert [splits(block) for block in graph.live()] == [True, False, False, False]
    assert [is_raised_alone(block) for block in graph.live()] == [False, False, False, True]
    empty = read_graph("block 0\n  -> 1\nblock 1\n  return\n", CODE)
    assert not any(splits(block) or is_raised_alone(block) for block in empty.live())
