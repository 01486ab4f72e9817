"""The statement of dispatch in whose code a block is: handlers that share code."""

from __future__ import annotations

import pytest

from depyf.decompiler.structure.dispatch.markers import Markers
from depyf.decompiler.structure.dispatch.scopes import Role, Scopes
from depyf.decompiler.structure.unstructured import Unstructured
from tests.decompiler.folding import graph_of
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): return g")
ONE_CODE_FOR_TWO = """block 0  [handler 0: block 2]; v0 = LOAD_GLOBAL 'g'; -> 1
block 1  [handler 1: block 2]; v1 = LOAD_GLOBAL 'h'; return v1
block 2; v3 = PUSH_EXC_INFO v2; -> 3
block 3 [stack v3]; v4 = LOAD_GLOBAL 'g'; POP v4; -> 4
block 4 [stack v3]; POP_EXCEPT v3; -> 5
block 5; return"""


def scopes_of(text: str, *withs: int) -> Scopes:
    graph = graph_of(text, CODE)
    return Scopes(graph, Markers(graph), set(withs))


def test_the_code_of_one_handler_is_in_its_try() -> None:
    scopes = scopes_of(ONE_CODE_FOR_TWO.replace("  [handler 1: block 2]", ""))
    assert [scopes.of[index].role for index in (0, 2, 3)] == [Role.TRY, Role.HANDLER, Role.HANDLER]


def test_two_tries_do_not_share_the_code_of_a_handler() -> None:
    with pytest.raises(Unstructured, match="handlers share code"):
        scopes_of(ONE_CODE_FOR_TWO)


def test_code_that_a_with_shares_with_a_try_is_in_the_try() -> None:
    """What a `with` alone leads to is part of the `with`, and in no scope."""
    assert scopes_of(ONE_CODE_FOR_TWO, 0).of[2].handler == 1
    alone = ONE_CODE_FOR_TWO.replace("  [handler 1: block 2]", "").replace("-> 3\n", "reraise v2\n")
    assert 2 not in scopes_of("\n".join(alone.splitlines()[:3]), 0).of
