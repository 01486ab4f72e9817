"""`super().name`: when its arguments were written."""

from __future__ import annotations

import pytest

from tests.decompiler.folding import folded
from tests.decompiler.test_forms import code_of

METHOD = code_of("def f(self, x): return __class__")
METHOD.freevars = ("__class__",)
NO_PARAMETERS = code_of("def f(): return __class__")
NO_PARAMETERS.freevars = ("__class__",)
BLOCK = "block 0; v0 = {}; v1 = {}; v2 = {}; v3 = LOAD_SUPER_ATTR ('name', {}) v0 v1 v2; return v3"
SUPER, CLASS, SELF = "LOAD_GLOBAL 'super'", "LOAD_DEREF '__class__'", "LOAD_FAST 'self'"
WRITTEN = {
    (SUPER, CLASS, SELF, False): "super().name",
    (SUPER, CLASS, SELF, True): "super(__class__, self).name",
    (SUPER, CLASS, "LOAD_DEREF 'self'", False): "super().name",
    (SUPER, CLASS, "LOAD_FAST 'x'", False): "super(__class__, x).name",
    (SUPER, CLASS, "LOAD_DEREF 'x'", False): "super(__class__, x).name",
    (SUPER, CLASS, "LOAD_GLOBAL 'self'", False): "super(__class__, self).name",
    (SUPER, CLASS, "CONST 1", False): "super(__class__, 1).name",
    (SUPER, "LOAD_GLOBAL '__class__'", SELF, False): "super(__class__, self).name",
    (SUPER, "LOAD_FAST '__class__'", SELF, False): "super(__class__, self).name",
    (SUPER, "LOAD_DEREF 'C'", SELF, False): "super(C, self).name",
    (SUPER, "CONST 1", SELF, False): "super(1, self).name",
    ("LOAD_GLOBAL 'other'", CLASS, SELF, False): "other().name",
}


@pytest.mark.parametrize("parts", WRITTEN)
def test_what_is_written(parts: tuple[str, str, str, bool]) -> None:
    assert folded(BLOCK.format(*parts), METHOD) == f"return {WRITTEN[parts]}\n"


def test_without_parameters_the_arguments_were_written() -> None:
    assert folded(BLOCK.format(SUPER, CLASS, SELF, False), NO_PARAMETERS) == "return super(__class__, self).name\n"
