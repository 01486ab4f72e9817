"""A function that looks at the variables of its frame sees the same while its code runs from the file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.model.run import Transformed  # noqa: E402
from depyf.verify.level import Level  # noqa: E402


def through_a_cell() -> Callable[..., Any]:
    module = sys

    def f(x):
        y = x * 2
        frame = module._getframe()
        return y, frame.f_locals.copy()

    return f


@pytest.mark.skipif(sys.version_info < (3, 11), reason="no instruction copies from below on the stack")
def test_a_frame_looked_at_through_a_cell(tmp_path: Path) -> None:
    torch._dynamo.reset()
    plain = torch.compile(through_a_cell(), backend="eager")(torch.ones(2))
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path, install=True) as session:
        installed = torch.compile(through_a_cell(), backend="eager")(torch.ones(2))
    transformed = [
        compiled.transformed for _, compiled in session.compiles() if isinstance(compiled.transformed, Transformed)
    ]
    assert transformed and all(code.level is not Level.UNPROVEN and code.installed for code in transformed), [
        code.reason for code in transformed
    ]
    assert torch.equal(plain[0], installed[0])
    # Dynamo's marks for torch's profiler have variables of their own, and are in no file.
    assert plain[1].keys() - {name for name in plain[1] if name.startswith("tmp_")} == installed[1].keys()
