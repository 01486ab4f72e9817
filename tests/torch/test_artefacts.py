"""Every artefact of every way to compile: what of it is in the dump, under which name, and that graph files run."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.torch.adapters import lacking, seams  # noqa: E402
from tests.torch import programs  # noqa: E402
from tests.torch.test_dump import artefacts, index  # noqa: E402

pytestmark = pytest.mark.skipif(not seams.has_structured_trace(), reason="torch before 2.4 does not tell all of this")

Tensor = torch.Tensor
FORWARD = ["Captured_Graph", "Forward_graph"]
TRAINING = ["Captured_Graph", "Joint_graph", "Forward_graph", "Backward_graph"]
MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()


def conditional(x: Tensor) -> Tensor:
    return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))


def looping(n: Tensor, x: Tensor) -> Any:
    from torch._higher_order_ops.while_loop import while_loop

    return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (n, x))


def waves(x: Tensor) -> Tensor:
    return torch.sin(x) * 2


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x).relu()


@contextlib.contextmanager
def without_caches() -> Iterator[None]:
    """Have Inductor compile what it has compiled before."""
    from torch._functorch import config

    autograd = {"enable_autograd_cache": False} if hasattr(config, "enable_autograd_cache") else {}
    with torch._inductor.config.patch(fx_graph_cache=False), config.patch(autograd):
        yield


def dumped(path: Path, run: Callable[[], object]) -> dict[str, Any]:
    with depyf.prepare_debug(path):
        run()
    content = index(path)
    assert content["problems"] == []
    return content


def graphs(compiled: dict[str, Any]) -> list[str]:
    return [artefact["stage"] for artefact in compiled["artefacts"] if artefact["kind"] == "graph"]


def compiles(content: dict[str, Any]) -> list[dict[str, Any]]:
    functions = [function for root in content["functions"] for function in (root, *root["resume_functions"])]
    return [compiled for function in functions for compiled in function["compiles"]]


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("graph", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def graph(path: Path, content: dict[str, Any], stage: str) -> Any:
    file = next(artefact["file"] for artefact in artefacts(content) if artefact["stage"] == stage)
    # From 2.15 on torch prints no lines of the user's into its backward graphs.
    assert stage == "Backward_graph" or "# File: " in (path / file).read_text("utf-8"), "the user's lines"
    return loaded(path / file).GraphModule()


def leaf(*size: int) -> Tensor:
    return torch.ones(*size, requires_grad=True)


def test_a_conditional_and_its_branches_run(tmp_path: Path) -> None:
    content = dumped(tmp_path, lambda: torch.compile(conditional, backend="aot_eager")(torch.ones(3)))
    assert graphs(compiles(content)[0]) == FORWARD
    for sign in (1, -1):
        x = sign * torch.ones(3)
        for stage in FORWARD:
            assert torch.equal(graph(tmp_path, content, stage)(x)[0], x.sin() if sign > 0 else x.cos())


def test_a_loop_and_its_body_run(tmp_path: Path) -> None:
    n, x = torch.tensor(0), torch.ones(3)
    content = dumped(tmp_path, lambda: torch.compile(looping, backend="aot_eager")(n, x))
    assert graphs(compiles(content)[0]) == FORWARD
    result = graph(tmp_path, content, "Captured_Graph")(n, x)
    assert torch.equal(result[1], torch.full((3,), 8.0))


def test_training_tells_the_joint_graph_and_both_parts(tmp_path: Path) -> None:
    x = leaf(3)
    content = dumped(tmp_path, lambda: torch.compile(waves, backend="aot_eager")(x).sum().backward())
    assert sorted(graphs(compiles(content)[0])) == sorted(TRAINING)
    forward = graph(tmp_path, content, "Forward_graph")(x.detach())
    assert torch.equal(forward[0], waves(x.detach()))
    backward = graph(tmp_path, content, "Backward_graph")(*forward[1:], torch.ones(3))
    assert torch.allclose(backward[0], x.grad)


def test_the_backward_of_inductor_is_compiled_when_it_is_needed(tmp_path: Path) -> None:
    with without_caches(), depyf.prepare_debug(tmp_path) as session:
        result = torch.compile(waves, backend="inductor")(leaf(3))
        ((_, compiled),) = list(session.compiles())
        before = [artefact.part for artefact in compiled.artefacts if artefact.stage == "kernel"]
        result.sum().backward()
        after = [artefact.part for artefact in compiled.artefacts if artefact.stage == "kernel"]
    assert (before, after) == (["forward"], ["forward", "backward"])
    stages = graphs(compiles(index(tmp_path))[0])
    assert set(TRAINING) | {"AFTER_POST_GRAD"} <= set(stages)


@pytest.mark.slow
def test_cold_and_warm_caches_tell_the_same_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    kernels, stages = [], []
    for name in ("cold", "warm"):
        torch._dynamo.reset()
        content = dumped(tmp_path / name, lambda: torch.compile(waves, backend="inductor")(leaf(3)).sum().backward())
        (compiled,) = compiles(content)
        files = [artefact["file"] for artefact in compiled["artefacts"] if artefact["stage"] == "kernel"]
        kernels.append(["".join((tmp_path / name / file).read_text("utf-8").split("\n")[3:]) for file in files])
        stages.append(set(graphs(compiled)))
    assert len(kernels[0]) == 2
    assert kernels[0] == kernels[1]
    assert set(TRAINING) | {"AFTER_POST_GRAD"} <= stages[1] <= stages[0]


def test_before_and_after_the_passes_of_inductor(tmp_path: Path) -> None:
    with without_caches():
        content = dumped(tmp_path, lambda: torch.compile(programs.other_program)(torch.ones(7)))
    stages = graphs(compiles(content)[0])
    if "BEFORE_PRE_GRAD" not in stages:
        pytest.skip("this torch does not tell its pre-grad passes")
    for stage in ("BEFORE_PRE_GRAD", "AFTER_PRE_GRAD", "BEFORE_POST_GRAD", "AFTER_POST_GRAD"):
        assert stage in stages
    assert torch.equal(graph(tmp_path, content, "AFTER_POST_GRAD")(torch.ones(7))[0], torch.ones(7).cos() * 3)


def test_a_record_that_nobody_knows_is_kept_as_it_comes(tmp_path: Path) -> None:
    def backend(graph: Any, inputs: Any) -> Any:
        for name, encoding, text in (("new plan", "string", "step 1"), ("new table", "json", '{"b": 1, "a": [2]}')):
            about = {"name": name, "encoding": encoding}
            torch._logging.trace_structured("artifact", lambda about=about: about, payload_fn=lambda text=text: text)
        return graph.forward

    content = dumped(tmp_path, lambda: torch.compile(waves, backend=backend)(torch.ones(3)))
    plan, table = (artefact for artefact in artefacts(content) if artefact["stage"].startswith("new"))
    assert (plan["kind"], (tmp_path / plan["file"]).read_text("utf-8")) == ("text", "step 1\n")
    assert (table["kind"], json.loads((tmp_path / table["file"]).read_text("utf-8"))) == ("json", {"a": [2], "b": 1})
    page = (tmp_path / "index.md").read_text("utf-8")
    assert all(artefact["file"] in page for artefact in (plan, table))


def test_a_graph_of_a_stage_that_nobody_knows_is_a_file_that_runs(tmp_path: Path) -> None:
    """As those that Dynamo writes where it splits the graph of `DistributedDataParallel` at the buckets."""

    def backend(graph: Any, inputs: Any) -> Any:
        text = graph.print_readable(print_output=False)
        about = {"name": "new split", "encoding": "string"}
        torch._logging.trace_structured("artifact", lambda: about, payload_fn=lambda: text)
        return graph.forward

    content = dumped(tmp_path, lambda: torch.compile(waves, backend=backend)(torch.ones(3)))
    (split,) = (artefact for artefact in artefacts(content) if artefact["stage"].startswith("new"))
    assert split["kind"] == "graph"
    assert split["file"].endswith(".new_split.0.py")
    assert torch.equal(graph(tmp_path, content, "new split")(torch.ones(3))[0], waves(torch.ones(3)))


@pytest.mark.parametrize("mode", MODES)
def test_every_mode(mode: str, tmp_path: Path) -> None:
    content = dumped(tmp_path, lambda: torch.compile(waves, mode=mode)(torch.ones(3)))
    (compiled,) = compiles(content)
    assert set(FORWARD) <= set(graphs(compiled))
    assert [artefact["stage"] for artefact in compiled["artefacts"]].count("kernel") == 1


def test_compiled_autograd(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    if not hasattr(torch._dynamo.config, "compiled_autograd"):
        pytest.skip("this torch has no setting for compiled autograd")

    def run() -> None:
        with torch._dynamo.config.patch(compiled_autograd=True):
            x = leaf(3)
            compiled = torch.compile(lambda x: waves(x).sum().backward(), backend="aot_eager")
            compiled(x)
            assert x.grad is not None

    content = dumped(tmp_path, run)
    assert not [warning for warning in recwarn if "does not know how to trace" in str(warning.message)], (
        "depyf itself is traced"
    )
    assert not [frame for frame in content["skipped"] if "depyf" in frame["file"]]
    # Before torch 2.7 nothing says to which compile such a graph belongs.
    all_artefacts = [
        *content["outside"],
        *(dumped_artefact for artefact in compiles(content) for dumped_artefact in artefact["artefacts"]),
    ]
    of_autograd = [artefact for artefact in all_artefacts if artefact["stage"].startswith("Compiled_autograd_graph")]
    if not of_autograd:
        pytest.skip("this torch does not tell the graph of compiled autograd")
    if lacking.autograd_compile_ids() is None:
        assert content["outside"] == []
        (of_its_own,) = (artefact for artefact in compiles(content) if artefact["id"].startswith("!"))
        assert "Compiled_autograd_graph" in graphs(of_its_own)
    for artefact in of_autograd:
        if artefact["file"].endswith(".py"):
            loaded(tmp_path / artefact["file"])


def test_layers_that_are_compiled_each(tmp_path: Path) -> None:
    layers = torch.nn.Sequential(*(torch.compile(Layer(), backend="aot_eager") for _ in range(3)))
    content = dumped(tmp_path, lambda: layers(torch.ones(2, 3)).sum().backward())
    for artefact in compiles(content):
        assert set(TRAINING) <= set(graphs(artefact))


def test_export_inside_of_a_context_changes_nothing(tmp_path: Path) -> None:
    expected = torch.compile(waves, backend="eager")(torch.ones(3))
    torch._dynamo.reset()

    def run() -> None:
        program = torch.export.export(Layer(), (torch.ones(2, 3),))
        assert program.graph_module is not None
        assert torch.equal(torch.compile(waves, backend="eager")(torch.ones(3)), expected)

    content = dumped(tmp_path, run)
    assert "waves" in {function["name"] for function in content["functions"]}


def test_fullgraph_and_dynamic(tmp_path: Path) -> None:
    def run() -> None:
        compiled = torch.compile(waves, backend="aot_eager", fullgraph=True, dynamic=True)
        compiled(torch.ones(3))
        compiled(torch.ones(5))

    content = dumped(tmp_path, run)
    (compile_entry,) = compiles(content)
    assert graphs(compile_entry) == FORWARD
    assert torch.equal(graph(tmp_path, content, "Forward_graph")(4, torch.ones(4))[-1], waves(torch.ones(4)))


def test_threads_each_have_their_graphs(tmp_path: Path) -> None:
    def run() -> None:
        threads = [
            threading.Thread(target=lambda size=size: torch.compile(waves, backend="aot_eager")(torch.ones(size)))
            for size in (2, 3, 4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    content = dumped(tmp_path, run)
    assert all(graphs(artefact) == FORWARD for artefact in compiles(content))
    files = [artefact["file"] for artefact in artefacts(content)]
    assert len(files) == len(set(files))


@pytest.mark.parametrize("function", [conditional, waves, programs.branching], ids=lambda function: function.__name__)
def test_every_graph_file_can_be_imported(function: Any, tmp_path: Path) -> None:
    arguments = (leaf(4), torch.rand(4)) if function is programs.branching else (leaf(4),)
    if not torch.compile(function, backend="aot_eager")(*arguments).requires_grad:
        pytest.skip("this torch computes no gradient of it")
    torch._dynamo.reset()
    content = dumped(tmp_path, lambda: torch.compile(function, backend="aot_eager")(*arguments).sum().backward())
    files = [artefact["file"] for artefact in artefacts(content) if artefact["kind"] == "graph"]
    assert len(files) >= 4
    for file in files:
        defined = vars(loaded(tmp_path / file)).values()
        assert any(isinstance(value, type) and issubclass(value, torch.nn.Module) for value in defined), file


def test_layers_that_are_compiled_each_on_its_own_share_their_entry(tmp_path: Path) -> None:
    # Without parameters to train, the input of each layer is like that of the first.
    layers = torch.nn.Sequential(*(Layer() for _ in range(3))).requires_grad_(False)
    x = torch.ones(2, 3)
    expected = layers(x)

    def run() -> None:
        for layer in layers:
            layer.compile(backend="aot_eager")
        assert torch.equal(layers(x), expected)
        assert torch.equal(layers(x), expected)

    content = dumped(tmp_path, run)
    (function,) = content["functions"]
    served = [compiled["hits"] for compiled in function["compiles"]]
    if not torch._dynamo.config.inline_inbuilt_nn_modules:
        pytest.skip("this torch compiles each layer anew")
    assert len(served) == 1
    assert served == [6] or "calls that each entry served" in content["unavailable"]


def test_a_region_that_is_compiled_once(tmp_path: Path) -> None:
    if not hasattr(torch.compiler, "nested_compile_region"):
        pytest.skip("this torch compiles no region once")
    region = torch.compiler.nested_compile_region(waves)

    def twice(x: Tensor) -> Tensor:
        return region(region(x))

    x = torch.rand(4)
    content = dumped(tmp_path, lambda: torch.compile(twice, backend="aot_eager")(x))
    (compiled,) = compiles(content)
    assert graphs(compiled) == FORWARD
    for stage in FORWARD:
        assert torch.equal(graph(tmp_path, content, stage)(x)[0], waves(waves(x)))
