"""Random bytecode is decompiled without the checks between passes: what comes out is run and compared instead.

Some forms that no compiler makes break an invariant and still give right text: two functions of one code object share
their statements, and a value of two joined tests is made twice.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from depyf.decompiler import steps


@pytest.fixture(autouse=True)
def _unchecked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("DEPYF_CHECK", "")
    monkeypatch.setattr(steps, "_ALWAYS", [])
    yield
