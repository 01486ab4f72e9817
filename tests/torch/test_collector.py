"""What depyf keeps between its hooks, which Python's search for cyclic garbage looks at during the whole compile."""

from __future__ import annotations

import ast
import gc
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from tests.torch import programs  # noqa: E402


def _statements() -> set[int]:
    return {id(node) for node in gc.get_objects() if issubclass(type(node), ast.stmt)}


def test_no_tree_of_a_graph_is_kept(tmp_path: Path) -> None:
    """A large model's trees have hundreds of thousands of nodes; what is kept of them costs the compile collections."""
    x = torch.ones(3, requires_grad=True)
    before = _statements()
    with depyf.prepare_debug(tmp_path):
        torch.compile(programs.straight, backend="aot_eager")(x).sum().backward()
        assert list(tmp_path.glob("__compiled_fn_*.Forward_graph.*.py"))
        kept = _statements() - before
    assert not kept
