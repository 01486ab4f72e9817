"""Template strings of their parts."""

from __future__ import annotations

import pytest

from depyf.errors import DecompilationError
from tests.decompiler.folding import folded
from tests.decompiler.test_forms import code_of

CODE = code_of("def f(a): pass")
VALUE = "v1 = LOAD_FAST 'a'; v2 = CONST 'a'; "
PARTS = {
    f"{VALUE}v3 = BUILD_INTERPOLATION (None, False) v1 v2": "t'x{{a}}'",
    f"{VALUE}v3 = BUILD_INTERPOLATION ('r', False) v1 v2": "t'x{{a!r}}'",
    f"{VALUE}v6 = CONST '>9'; v3 = BUILD_INTERPOLATION (None, True) v1 v2 v6": "t'x{{a:>9}}'",
}
WHOLE = "block 0; v0 = CONST ('x', ''); {}; v4 = BUILD_TUPLE 1 v3; v5 = BUILD_TEMPLATE v0 v4; return v5"


@pytest.mark.parametrize("rows", PARTS)
def test_a_template(rows: str) -> None:
    assert folded(WHOLE.format(rows), CODE) == f"return {PARTS[rows].format()}\n"


REFUSED = {
    "too few texts": "v0 = CONST ('x',); v1 = LOAD_FAST 'a'; v2 = BUILD_TUPLE 1 v1",
    "too many texts": "v0 = CONST ('x', '', ''); v1 = LOAD_FAST 'a'; v2 = BUILD_TUPLE 1 v1",
    "texts that are made elsewhere": "v0 = LOAD_FAST 'a'; v1 = LOAD_FAST 'a'; v2 = BUILD_TUPLE 1 v1",
    "values that are made elsewhere": "v0 = CONST ('x', ''); v2 = LOAD_FAST 'a'",
    "values of a list": "v0 = CONST ('x', ''); v1 = LOAD_FAST 'a'; v2 = BUILD_LIST 1 v1",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_template(what: str) -> None:
    with pytest.raises(DecompilationError, match="not a display"):
        folded(f"block 0; {REFUSED[what]}; v5 = BUILD_TEMPLATE v0 v2; return v5", CODE)


def test_a_template_without_values() -> None:
    assert folded("block 0; v0 = CONST ('x',); v1 = CONST (); v2 = BUILD_TEMPLATE v0 v1; return v2", CODE) == (
        "return t'x'\n"
    )
