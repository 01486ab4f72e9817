"""How far the statements of loops reach, as the code says it."""

from __future__ import annotations

from depyf.bytecode.listing import Extent
from depyf.decompiler.show.read_graph import read_graph
from depyf.decompiler.structure.extents import UNKNOWN, Extents
from tests.decompiler.test_forms import code_of

SHOWN = (
    "block 0\n  v0 = CALL ()\n  -> 1\nblock 1\n  -> for v1 in v0: 1, else 2\nblock 2\n  -> 3\n"
    "block 3\n  v2 = CALL ()\n  -> 3 if v2 else 4\nblock 4\n  return v0\n"
)


def test_each_loop_has_its_end() -> None:
    graph = read_graph(SHOWN, code_of("def f(a): pass"))
    for block in graph.live():
        block.offset = 10 * block.index
    graph.loops = [Extent(22, 3, 50), Extent(2, 1, 20)]
    extents = Extents(graph)
    assert extents.behind_for(1) == 20
    assert extents.behind_while(3) == 50
    assert extents.behind_while(1) == extents.behind_while(4) == UNKNOWN
    assert extents.behind_for(0) == UNKNOWN


def test_code_that_says_nothing() -> None:
    extents = Extents(read_graph(SHOWN, code_of("def f(a): pass")))
    assert extents.behind_for(1) == extents.behind_while(3) == UNKNOWN
