"""The files of AOTAutograd's wrappers say who calls each, and what the names in it stand for."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.torch.adapters import lacking  # noqa: E402
from tests.torch.needs import needs  # noqa: E402

pytestmark = needs(lacking.wrappers())

Tensor = torch.Tensor


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()


def training(x: Tensor) -> Tensor:
    return (x * 2).relu()


def changes_overlapping(a: Tensor, b: Tensor) -> Tensor:
    a.mul_(2)
    b.add_(1)
    return a.sum() + b


def gives_views(x: Tensor) -> tuple[Tensor, ...]:
    return x.view(-1), x.t()


def dump(directory: Path, function: Callable[..., Any], *values: Tensor, backend: str = "aot_eager") -> str:
    """Return the text of all wrappers that are written around a function, and check what holds of each file."""
    with depyf.prepare_debug(directory):
        results = torch.compile(function, backend=backend)(*values)
        if isinstance(results, Tensor) and results.requires_grad:
            results.sum().backward()
    assert not (directory / "depyf_problems.txt").exists()
    files = sorted(path for path in directory.iterdir() if ".AOT_" in path.name)
    texts = [path.read_text(encoding="utf-8") for path in files]
    for text in texts:
        assert unexplained(text) == set()
        for named in re.findall(r"__compiled_fn_\d+\.\w+\.?\d*\.py", text):
            assert (directory / named).exists()
    return "\n".join(texts)


def unexplained(text: str) -> set[str]:
    """Return the names that functions of a file read and neither make nor have explained above them."""
    tree = ast.parse(text)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    assigned = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    assigned |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ExceptHandler)}
    inner = [inner_node for node in tree.body for inner_node in ast.walk(node) if inner_node is not node]
    assigned |= {node.arg for function in inner if isinstance(function, ast.FunctionDef) for node in function.args.args}
    explained = set(re.findall(r"^#   (\w+) +is ", text, re.MULTILINE))
    return used - assigned - explained - set(dir(builtins)) - {"torch", "functools"}


def test_the_chain_can_be_followed_from_the_call_to_the_backward_and_back(tmp_path: Path) -> None:
    text = dump(tmp_path, training, torch.ones(3, requires_grad=True))
    graph = r"it leads to the graph in __compiled_fn_\d+"
    called = r"# _runtime_wrapper is called by runtime_wrapper, torch/\S+, to which __compiled_fn_\d+ leads"
    assert re.search(called, text)
    assert re.search(r"#   _compiled_fn_ +is .*; it leads to _compiled_forward in .* and _compiled_backward in ", text)
    assert re.search(r"# _compiled_forward is called by .*, to which _compiled_fn_ in _runtime_wrapper \(.*leads", text)
    assert re.search(r"#   _prologue_ +is _backward_prologue in ", text)
    assert re.search(r"# _backward_prologue is called by _compiled_backward \(.*\) as _prologue_", text)
    assert re.search(rf"#   _compiled_fw_ +is .*; {graph}\.Forward_graph\.0\.py", text)
    assert re.search(rf"#   _impl_ +is .*; {graph}\.Backward_graph\.0\.py", text)
    assert re.search(r"#   _double_bw_ +is CompiledFunction._double_backward, torch/\S+:\d+$", text, re.MULTILINE)
    assert re.search(r"#   ctx_symints +is _ctx_.symints in its caller$", text, re.MULTILINE)
    assert re.search(r"#   _compile_id_ +is '0/0'$", text, re.MULTILINE)


def test_a_kernel_that_is_compiled_later_is_named(tmp_path: Path) -> None:
    text = dump(tmp_path, training, torch.ones(3, requires_grad=True), backend="inductor")
    assert re.search(r"#   _compiled_fw_ +is .*; it leads to call in __compiled_fn_\d+\.kernel_0\.py", text)
    assert re.search(r"#   _impl_ +is .*; it leads to call in __compiled_fn_\d+\.kernel_1\.py", text)


def test_wrappers_around_wrappers(tmp_path: Path) -> None:
    base = torch.ones(10)
    text = dump(tmp_path, changes_overlapping, base[:6], base[4:])
    assert re.search(r"#   _compiled_fn_ +is runtime_wrapper, .*; it leads to _runtime_wrapper in ", text)
    assert "_increment_version_  is increment_version, torch/autograd/graph.py:" in text


def test_a_function_that_only_another_wrapper_reads(tmp_path: Path) -> None:
    text = dump(tmp_path, gives_views, torch.ones(2, 3))
    assert re.search(r"#   _replay_aliases_ +is (_replay_alias, .*; it leads to )?_alias_fn in ", text)
