"""Variables that are looked up in the namespace of a class first."""

from __future__ import annotations

import pytest

from depyf.errors import DecompilationError
from tests.decompiler.folding import folded
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): pass")
FOUND = {
    "v0 = LOAD_LOCALS; v1 = LOAD_FROM_DICT_OR_GLOBALS 'x' v0": "return x\n",
    "v0 = LOAD_LOCALS; v1 = LOAD_FROM_DICT_OR_DEREF 'x' v0": "return x\n",
    "v0 = LOAD_DEREF '__classdict__'; v1 = LOAD_FROM_DICT_OR_GLOBALS 'x' v0": "return x\n",
    "v0 = LOAD_LOCALS; v1 = LOAD_ATTR 'x' v0": "return <Namespace>.x\n",
}


@pytest.mark.parametrize("rows", FOUND)
def test_what_is_read(rows: str) -> None:
    assert folded(f"block 0; {rows}; return v1", CODE) == FOUND[rows]


@pytest.mark.parametrize("namespace", ["LOAD_FAST 'a'", "LOAD_DEREF 'a'", "CONST 1"])
def test_another_dict_is_no_namespace(namespace: str) -> None:
    with pytest.raises(DecompilationError, match="not a class's namespace"):
        folded(f"block 0; v0 = {namespace}; v1 = LOAD_FROM_DICT_OR_GLOBALS 'x' v0; return v1", CODE)
