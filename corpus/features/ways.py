"""Every way to a compile that is no plain call: ahead of calls, loaded, packaged, alone, by region, piece by piece."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import torch

from corpus.features import NotHere


class _Block(torch.nn.Module):
    """A layer small enough to be compiled often."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        """Return what the layer makes of `x`."""
        return torch.relu(self.linear(x)) + x


class _Blocks(torch.nn.Module):
    """Layers of one kind."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(_Block() for _ in range(3))

    def forward(self, x):
        """Return what all layers make of `x`."""
        for layer in self.layers:
            x = layer(x)
        return x


def _scaled(x, n):
    return torch.sin(x) * n


def _needs(owner: object, name: str) -> None:
    if not hasattr(owner, name):
        raise NotHere(name)


def _graph(x):
    from torch.fx.experimental.proxy_tensor import make_fx

    return make_fx(lambda x: (torch.sin(x) * 2 + 1,), tracing_mode="fake")(x)


def ahead_of_its_calls():
    _needs(torch._dynamo.config, "enable_aot_compile")
    with torch._dynamo.config.patch(enable_aot_compile=True):
        aot_compiled = torch.compile(_scaled, fullgraph=True).aot_compile(((torch.ones(3), 2), {}))
        return [aot_compiled(torch.ones(3), 2), aot_compiled(torch.zeros(3), 2)]


def ahead_saved_and_loaded():
    _needs(torch._dynamo.config, "enable_aot_compile")
    _needs(torch.compiler, "load_compiled_function")
    with torch._dynamo.config.patch(enable_aot_compile=True), tempfile.TemporaryDirectory() as there:
        path = Path(there) / "function.pt2"
        torch.compile(_scaled, fullgraph=True).aot_compile(((torch.ones(3), 2), {})).save_compiled_function(str(path))
        torch._dynamo.reset()
        with open(path, "rb") as file:
            loaded = torch.compiler.load_compiled_function(io.BytesIO(file.read()))
        return loaded(torch.ones(3), 2)


def artifacts_saved_and_loaded():
    _needs(torch.compiler, "save_cache_artifacts")
    from torch._inductor.utils import fresh_inductor_cache

    with fresh_inductor_cache():
        first = torch.compile(_scaled)(torch.ones(3), 2)
        saved = torch.compiler.save_cache_artifacts()
    torch._dynamo.reset()
    with fresh_inductor_cache():
        torch.compiler.load_cache_artifacts(saved[0])
        return [first, torch.compile(_scaled)(torch.ones(3), 2)]


def caching_precompile():
    _needs(torch._dynamo.config, "caching_precompile")
    from torch._inductor.utils import fresh_inductor_cache

    with torch._dynamo.config.patch(caching_precompile=True):
        with fresh_inductor_cache():
            first = torch.compile(_scaled)(torch.ones(3), 2)
            saved = torch.compiler.save_cache_artifacts()
        torch._dynamo.reset()
        with fresh_inductor_cache():
            torch.compiler.load_cache_artifacts(saved[0])
            loaded = torch.compile(_scaled)
            with torch.compiler.set_stance("fail_on_recompile"):
                return [first, loaded(torch.ones(3), 2), loaded(torch.ones(3), 2)]


def exported():
    return torch.export.export(_Block(), (torch.ones(2, 4),)).module()(torch.ones(2, 4))


def exported_strictly():
    return torch.export.export(_Block(), (torch.ones(2, 4),), strict=True).module()(torch.ones(2, 4))


def aot_inductor_package():
    _needs(torch._inductor, "aoti_compile_and_package")
    x = torch.ones(2, 4)
    with tempfile.TemporaryDirectory() as there, torch.no_grad():
        path = str(Path(there) / "block.pt2")
        torch._inductor.aoti_compile_and_package(torch.export.export(_Block(), (x,)), package_path=path)
        return torch._inductor.aoti_load_package(path)(x)


def marked_regions():
    marked = getattr(torch.compiler, "nested_compile_region", None)
    if marked is None:
        marked = getattr(torch._higher_order_ops.invoke_subgraph, "mark_compile_region", None)
    if marked is None:
        raise NotHere("nested_compile_region")

    @marked
    def region(x):
        return torch.sin(x) * 2

    def f(x):
        return region(region(x))

    return torch.compile(f)(torch.ones(3))


def blocks_one_by_one():
    model = _Blocks()
    for layer in model.layers:
        layer.compile()
    return model(torch.ones(2, 4))


def standalone():
    _needs(torch._inductor, "standalone_compile")
    x = torch.ones(3)
    return torch._inductor.standalone_compile(_graph(x), [x])(x)


def standalone_saved_and_loaded():
    _needs(torch._inductor, "standalone_compile")
    x = torch.ones(3)
    with tempfile.TemporaryDirectory() as there:
        path = str(Path(there) / "artifact")
        torch._inductor.standalone_compile(_graph(x), [x]).save(path=path, format="unpacked")
        from torch._inductor.standalone_compile import CompiledArtifact

        return CompiledArtifact.load(path=path, format="unpacked")(x)


def graph_given_to_inductor():
    from torch._inductor.compile_fx import compile_fx

    x = torch.ones(3)
    return compile_fx(_graph(x), [x])(x)


def compiled_autograd():
    _needs(torch._dynamo.config, "compiled_autograd")
    x = torch.ones(3, requires_grad=True)
    with torch._dynamo.config.patch(compiled_autograd=True):
        torch.compile(lambda x: (torch.sin(x) * x).sum().backward())(x)
    return x.grad


def graph_trees():
    model = _Block()
    compiled = torch.compile(model, mode="reduce-overhead")
    compiled(torch.ones(2, 4)).sum().backward()
    return [compiled(torch.ones(2, 4)).detach(), model.linear.weight.grad]


def pieces_of_a_graph():
    """Split a graph as vLLM does: each piece is compiled by itself, and the whole is formatted under a name."""
    from torch._dynamo.utils import lazy_format_graph_code
    from torch._inductor.compile_fx import compile_fx
    from torch.fx.passes.split_module import split_module

    def backend(graph, inputs):
        parts = {node: number // 2 for number, node in enumerate(fx_node for fx_node in graph.graph.nodes)}
        split = split_module(graph, graph, parts.__getitem__, keep_original_order=True)
        lazy_format_graph_code("before split", graph)
        lazy_format_graph_code("vllm_piecewise_split_graph", split)

        class Pieces(torch.fx.Interpreter):
            def call_module(self, target, args, kwargs):
                compiled = compile_fx(getattr(split, target), list(args))
                setattr(split, target, _Compiled(compiled))
                return compiled(*args)

        with torch.no_grad():
            Pieces(split).run(*inputs)
        return split

    def f(x):
        return torch.cos(torch.sin(x) * 2 + 1) * 3

    with torch.no_grad():
        return torch.compile(f, backend=backend)(torch.ones(3))


class _Compiled(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)
