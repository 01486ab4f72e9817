"""Operations on constants that the compiler leaves as they are, as one of them was an f-string."""

from __future__ import annotations

import pytest

from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.lift.unfolded import LONGEST
from depyf.decompiler.show import tree
from depyf.decompiler.structure.collapse import count_uses
from depyf.decompiler.structure.nodes import items_of
from tests import interpreters
from tests.decompiler.again import comes_back, exact
from tests.decompiler.folding import folded, graph_of
from tests.decompiler.test_forms import code_of

before_3_14 = [version for version in interpreters.VERSIONS if version < (3, 14)]
SOURCE = """\
a = b >= f'' + 'c'
d = not f''
e = f'ab' * 3
g = {f'': b, (): b}
h = {b: '', '': b, 1: b}
i = '' + b, b + '', not b, 'a' * b
"""
CODE = code_of("def f(a, b): pass")
GIVEN = {
    "v0 = CONST 'a'; v1 = CONST 'b'; v2 = BINARY '+' v0 v1; return v2": "return f'a' + 'b'\n",
    "v0 = CONST 'a'; v1 = CONST 'b'; v2 = BINARY '-' v0 v1; return v2": "return 'a' - 'b'\n",
    "v0 = CONST 'a'; v1 = CONST 1; v2 = BINARY '+' v0 v1; return v2": "return 'a' + 1\n",
    f"v0 = CONST 'aa'; v1 = CONST {LONGEST // 2}; v2 = BINARY '*' v0 v1; return v2": f"return f'aa' * {LONGEST // 2}\n",
    f"v0 = CONST 'aa'; v1 = CONST {LONGEST}; v2 = BINARY '*' v0 v1; return v2": f"return 'aa' * {LONGEST}\n",
    "v0 = CONST 1; v1 = CONST 2; v2 = BINARY '+' v0 v1; return v2": "return 1 + 2\n",
    "v0 = CONST 1; v1 = CONST 'b'; v2 = BINARY '+' v0 v1; return v2": "return 1 + 'b'\n",
    "v0 = CONST 'a'; v1 = BUILD_MAP v0 v9; return v1": "return {'a': v9}\n",
    "v0 = CONST 'a'; v1 = CONST 1; v2 = BUILD_MAP v0 v9 v1 v9; return v2": "return {f'a': v9, 1: v9}\n",
    "v0 = CONST 1; v1 = CONST 2; v2 = BUILD_MAP v0 v9 v1 v9; return v2": "return {1: v9, 2: v9}\n",
    "v0 = CONST 'a'; v1 = BUILD_MAP v0 v9 v8 v9; return v1": "return {'a': v9, v8: v9}\n",
    "v0 = CONST False; v1 = UNARY 'not' v0; return v1": "return not f''\n",
    "v0 = CONST True; v1 = UNARY 'not' v0; return v1": "return not f'_'\n",
    "v0 = CONST 1; v1 = UNARY 'not' v0; return v1": "return not 1\n",
    "v0 = CONST 'a'; v1 = UNARY '-' v0; return v1": "return -'a'\n",
}


@pytest.mark.parametrize("version", before_3_14, ids=interpreters.label)
def test_what_is_not_folded_comes_back(version: tuple[int, int]) -> None:
    comes_back(SOURCE, version)


@pytest.mark.parametrize("version", [v for v in interpreters.VERSIONS if v >= (3, 14)], ids=interpreters.label)
def test_a_compiler_that_folds_instructions_folds_these(version: tuple[int, int]) -> None:
    assert "f''" not in exact(SOURCE, version)
    comes_back("a = [not +1, not -1, not +1.5, not 'a' + '', not b'' + b'', not ()]\n", version)


@pytest.mark.parametrize("rows", GIVEN)
def test_what_becomes_of_constants(rows: str) -> None:
    assert folded(f"block 0; {rows}", CODE) == GIVEN[rows]


@pytest.mark.parametrize("rows", GIVEN)
def test_code_that_is_written_as_it_reads_best_has_no_such_texts(rows: str) -> None:
    graph = graph_of(f"block 0; {rows}", CODE)
    graph.is_kept = False
    assert "f'" not in tree.text(items_of(graph, graph.block(0), count_uses(graph)), Grammar.of(CODE))
