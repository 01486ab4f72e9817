"""What every supported torch has: modules of depyf import no part of torch that torch 2.2 lacks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "depyf"
IN_TORCH_2_2 = {
    "torch",
    "torch._dynamo",
    "torch._dynamo.backends.registry",
    "torch._dynamo.eval_frame",
    "torch._dynamo.exc",
    "torch._dynamo.side_effects",
    "torch._dynamo.utils",
    "torch._inductor.inductor_prims",
    "torch.autograd",
    "torch.fx",
    "torch.fx.experimental.symbolic_shapes",
    "torch.fx.passes.split_module",
    "torch.utils",
    "torch.utils._device",
}
"""The parts that a module may import at its top; others are imported where a torch has them."""


def _imported(text: str) -> Iterator[str]:
    for stmt in ast.parse(text).body:
        if isinstance(stmt, ast.Import):
            yield from (name.name for name in stmt.names)
        elif isinstance(stmt, ast.ImportFrom) and not stmt.level:
            yield stmt.module or ""


def _newer(text: str) -> set[str]:
    return {name for name in _imported(text) if name.partition(".")[0] == "torch" and name not in IN_TORCH_2_2}


def test_a_newer_part_is_seen() -> None:
    assert _newer("import torch.compiler.config\nfrom torch.fx import Graph") == {"torch.compiler.config"}


def test_no_module_imports_a_part_that_the_oldest_torch_lacks() -> None:
    by_file = {str(path.relative_to(SRC)): _newer(path.read_text(encoding="utf-8")) for path in SRC.rglob("*.py")}
    assert {path: newer for path, newer in by_file.items() if newer} == {}
