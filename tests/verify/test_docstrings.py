"""Where a flag tells whether the first constant is a docstring, the constant alone does not."""

from __future__ import annotations

import pytest

from depyf.verify.compare import verify
from depyf.verify.level import Level
from tests import interpreters
from tests.bytecode.listings import compiled

WITHOUT = "def f():\n    return 'one'\n"
WITH = "def f():\n    'one'\n    return 'one'\n"


@pytest.mark.parametrize("version", [(3, 13), (3, 14), (3, 15)], ids=interpreters.label)
def test_a_constant_is_told_from_a_docstring(version: tuple[int, int]) -> None:
    without, two = compiled(WITHOUT, version), compiled(WITH, version)
    assert verify(without, without).level is Level.EXACT
    assert verify(two, compiled(WITH + "\n", version)).level is Level.EXACT
    assert verify(without, two).level is Level.UNPROVEN
