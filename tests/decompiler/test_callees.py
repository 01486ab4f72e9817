"""What a call calls, once it is known which values are NULL: the operands before and after."""

from __future__ import annotations

import pytest

from depyf.decompiler.graph.tac import Graph
from depyf.decompiler.lift.callees import settle_callees
from depyf.decompiler.show.graph import text
from depyf.decompiler.show.read_graph import read_graph
from depyf.errors import DecompilationError
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): pass")
SETTLED = {
    "CALL ((), 'plain') v0 v1": "CALL () v0 v1",
    "CALL ((), 'below') null v0 v1": "CALL () v0 v1",
    "CALL ((), 'below') v0 v1 v2": "CALL () v0 v1 v2",
    "CALL ((), 'below') v0 self v1": "CALL () v0 v1",
    "CALL (('k',), 'above') v0 null v1": "CALL ('k',) v0 v1",
    "CALL_EX (True, 'above') v0 null v1 v2": "CALL_EX True v0 v1 v2",
    "CALL_EX (False, 'below') null v0 v1": "CALL_EX False v0 v1",
}


def settled(row: str) -> Graph:
    graph = read_graph(f"block 0\n  v9 = {row}\n  return v9\n", CODE)
    settle_callees(graph, [inst for inst in graph.block(0).insts if inst.op.startswith("CALL")])
    return graph


@pytest.mark.parametrize("row", SETTLED)
def test_a_missing_self_goes(row: str) -> None:
    assert text(settled(row)).splitlines()[1].strip() == f"v9 = {SETTLED[row]}"


def test_a_function_with_its_self_takes_no_unpacked_arguments() -> None:
    with pytest.raises(DecompilationError, match="bound pair"):
        settled("CALL_EX (False, 'below') v0 v1 v2")
