"""The iterable of a loop that follows another loop stands in its head."""

from __future__ import annotations

import pytest

from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.emit.statements import write
from depyf.decompiler.passes.module import module_body
from depyf.decompiler.pipeline.run import decompile
from depyf.verify.compare import verify
from depyf.verify.level import Level
from tests import interpreters
from tests.bytecode.listings import compiled

SOURCE = """
def f(self, limit):
    while len(self) >= limit:
        try:
            self.wait()
        except A:
            self.clear()
        except B:
            break
    found = None
    for one in self.copy():
        one(found)
"""


@pytest.mark.parametrize("version", [(3, minor) for minor in range(11, 16)], ids=interpreters.label)
def test_an_iterable_behind_a_loop_is_no_variable(version: tuple[int, int]) -> None:
    code = compiled(SOURCE, version)
    body, names = decompile(code)
    text = write(module_body(body, names.objects), Grammar.of(code))
    assert "    for one in self.copy():" in text
    verdict = verify(code, compiled(text, version))
    assert verdict.level is Level.EXACT, verdict.reason
