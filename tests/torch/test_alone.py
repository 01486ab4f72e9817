"""What is compiled with no call of Dynamo's behind it has a story of its own: name, place, graphs, time."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._functorch.aot_autograd import aot_function

import depyf
from depyf.model.index_reader import read_run
from depyf.model.run import Compile, Function, NoCall, Session, Transformed, Unavailable
from depyf.torch.adapters import lacking

pytestmark = pytest.mark.skipif(lacking.structured_trace() is not None, reason="torch writes no records of it")


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x).relu()


def unchanged(graph: torch.fx.GraphModule, _: object) -> torch.fx.GraphModule:
    return graph


def compiled_alone(function: Callable[..., Any]) -> Callable[..., Any]:
    aot_compiled: Callable[..., Any] = aot_function(function, fw_compiler=unchanged)
    return aot_compiled


def stories(session: Session) -> list[tuple[Function, Compile]]:
    assert session.loose == []
    assert session.problems == []
    return list(session.compiles())


def test_a_graph_that_is_compiled_alone(tmp_path: Path) -> None:
    with depyf.prepare_debug(tmp_path) as session:
        compiled_alone(torch.sin)(torch.ones(3, requires_grad=True))
    ((function, compiled),) = stories(session)
    assert str(compiled.id).startswith("g")
    assert (Path(function.filename).name, compiled.user_stack[-1].function) == (
        Path(__file__).name,
        "test_a_graph_that_is_compiled_alone",
    )
    assert {"Forward_graph", "Backward_graph"} <= {artefact.stage for artefact in compiled.artefacts}
    assert compiled.seconds["total"] > 0
    assert isinstance(compiled.guards, Unavailable)
    assert isinstance(compiled.transformed, Unavailable)
    assert f"{compiled.id}" in (tmp_path / "index.md").read_text()


def test_two_that_are_compiled_in_one_line_are_two(tmp_path: Path) -> None:
    with depyf.prepare_debug(tmp_path) as session:
        for function in (torch.sin, torch.cos, torch.exp):
            compiled_alone(function)(torch.ones(3, requires_grad=True))
    compiles = stories(session)
    assert len({compiled.id for _, compiled in compiles}) == len(compiles) == 3
    assert all(
        len([artefact for artefact in compiled.artefacts if artefact.stage == "Forward_graph"]) == 1
        for _, compiled in compiles
    )


def test_calls_of_what_was_compiled_alone_are_no_compiles(tmp_path: Path) -> None:
    compiled = compiled_alone(torch.sin)
    x = torch.ones(3, requires_grad=True)
    compiled(x)
    with depyf.prepare_debug(tmp_path) as session:
        compiled(x).sum().backward()
    assert stories(session) == []


def test_what_dynamo_compiles_has_its_own_ids(tmp_path: Path) -> None:
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(torch.nn.Linear(4, 4), backend="aot_eager")(torch.ones(2, 4)).sum().backward()
        compiled_alone(torch.sin)(torch.ones(3, requires_grad=True))
    dynamos, alone = (compiled for _, compiled in stories(session))
    assert [str(compiled.id).startswith("g") for compiled in (dynamos, alone)] == [False, True]
    assert "Backward_graph" in {artefact.stage for artefact in dynamos.artefacts}


@pytest.mark.parametrize("strict", [True, False])
def test_a_module_that_is_exported_is_named(tmp_path: Path, strict: bool) -> None:
    if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 6):
        pytest.skip("this torch writes no record of an exported program")
    with depyf.prepare_debug(tmp_path) as session:
        torch.export.export(Net(), (torch.ones(2, 4),), strict=strict)
    ((function, compiled),) = stories(session)
    assert (function.name, function.first_line) == ("forward", Net.forward.__code__.co_firstlineno)
    (graph,) = (artefact for artefact in compiled.artefacts if artefact.stage in ("Captured_Graph", "exported_program"))
    text = (tmp_path / graph.file).read_text(encoding="utf-8")
    assert "relu" in text and "self.linear(x).relu()" in text, "each node has the user's line above it"
    assert session.loose == []


def test_the_graph_of_compiled_autograd_is_of_the_frame_that_dynamo_compiles(tmp_path: Path) -> None:
    compiled_autograd = pytest.importorskip("torch._dynamo.compiled_autograd")
    if not hasattr(compiled_autograd, "_enable"):
        pytest.skip("this torch enables compiled autograd in another way")
    net = Net()
    with depyf.prepare_debug(tmp_path) as session, compiled_autograd._enable(torch.compile(backend="eager")):
        net(torch.ones(2, 4)).sum().backward()
    if session.loose and all(compiled.id.autograd < 0 for _, compiled in session.compiles()):
        pytest.skip("this torch does not say to which frame such a graph belongs")
    ((function, compiled),) = stories(session)
    assert function.name == function.qualname == "compiled_autograd"
    head = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert re.search(r"\| compiled_autograd, \S*test_alone\.py:\d+, in generated code \|", head)
    assert "`<module>` runs eager" not in head, "what defines the generated function is no frame of the user's"
    assert "Compiled_autograd_graph" in {artefact.stage for artefact in compiled.artefacts}
    assert all((tmp_path / artefact.file).is_file() for artefact in compiled.artefacts)


def test_a_package_that_is_loaded_has_code_calls_and_time(tmp_path: Path) -> None:
    if not hasattr(torch._dynamo.config, "caching_precompile"):
        pytest.skip("this torch loads no functions from its cache")
    from torch._inductor.utils import fresh_inductor_cache

    with fresh_inductor_cache(), torch._dynamo.config.patch(caching_precompile=True):
        torch.compile(scaled)(torch.ones(3))
        saved = torch.compiler.save_cache_artifacts()
    assert saved is not None

    def served() -> None:
        compiled = torch.compile(scaled)
        with torch.compiler.set_stance("fail_on_recompile"):
            compiled(torch.ones(3)), compiled(torch.ones(3))

    torch._dynamo.reset()
    with fresh_inductor_cache(), torch._dynamo.config.patch(caching_precompile=True):
        torch.compiler.load_cache_artifacts(saved[0])
        try:
            served()
        except RuntimeError:
            pytest.skip("this torch compiles a function that it has loaded once more")
    torch._dynamo.reset()
    with fresh_inductor_cache(), torch._dynamo.config.patch(caching_precompile=True):
        torch.compiler.load_cache_artifacts(saved[0])
        with depyf.prepare_debug(tmp_path) as session:
            served()
    torch._dynamo.reset()
    ((function, loaded),) = stories(session)
    assert (function.name, loaded.trigger) == ("scaled", NoCall("loaded from a package"))
    assert isinstance(loaded.transformed, Transformed)
    assert loaded.hits in (2, None)
    assert loaded.seconds["total"] > 0
    assert session.earlier == {}


def scaled(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x) * 2


def test_what_the_program_asks_for_is_named(tmp_path: Path) -> None:
    with depyf.prepare_debug(tmp_path) as session:
        compiled_alone(torch.sin)(torch.ones(3, requires_grad=True))
    ((_, compiled),) = stories(session)
    assert compiled.trigger == NoCall("asked for by returned_function")
    assert read_run(tmp_path).session.roots()[0].compiles[0].trigger == compiled.trigger
