"""Ways to a compile that are no call, and caches: export, packages, precompiled functions, artifacts."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import torch


class _Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        return torch.relu(self.linear(x))


def exported():
    exported_program = torch.export.export(_Model(), (torch.ones(2, 3),))
    return [str(exported_program.graph), exported_program.module()(torch.ones(2, 3))]


def exported_strictly():
    exported_program = torch.export.export(_Model(), (torch.ones(2, 3),), strict=True)
    return [str(exported_program.graph_signature), exported_program.module()(torch.ones(2, 3))]


def exported_with_dynamic_shapes():
    size = torch.export.Dim("size", min=2)
    exported_program = torch.export.export(_Model(), (torch.ones(4, 3),), dynamic_shapes={"x": {0: size}})
    return exported_program.module()(torch.ones(5, 3))


def exported_and_saved():
    with tempfile.TemporaryDirectory() as there:
        torch.export.save(torch.export.export(_Model(), (torch.ones(2, 3),)), Path(there) / "model.pt2")
        return torch.export.load(Path(there) / "model.pt2").module()(torch.ones(2, 3))


def export_that_fails():
    def f(x):
        return x + 1 if x.sum() > 0 else x

    class Branches(torch.nn.Module):
        def forward(self, x):
            return f(x)

    try:
        return torch.export.export(Branches(), (torch.ones(2),), strict=True)
    except Exception as error:  # noqa: BLE001 - the exception is what is compared
        return [type(error).__name__, str(error)]


def compiled_ahead_of_calls():
    if not hasattr(torch._dynamo.config, "enable_aot_compile"):
        return "this torch cannot"
    with torch._dynamo.config.patch(enable_aot_compile=True):
        compiled = torch.compile(lambda x, n: torch.sin(x) * n, fullgraph=True, backend="aot_eager")
        aot_compiled = compiled.aot_compile(((torch.ones(3), 2), {}))
        return aot_compiled(torch.ones(3), 2)


def functions_of_aot():
    from functorch.compile import aot_function, nop

    x = torch.ones(3, requires_grad=True)
    aot_function(lambda x: torch.sin(x) * 2, nop)(x).sum().backward()
    return x.grad


def graph_made_by_fx():
    traced = torch.fx.symbolic_trace(_Model())
    return [traced.code, torch.compile(traced, backend="eager")(torch.ones(2, 3))]


def graph_made_by_tracing_operators():
    from torch.fx.experimental.proxy_tensor import make_fx

    return make_fx(lambda x: torch.sin(x) * 2)(torch.ones(3)).code


def graph_given_to_inductor():
    from torch._inductor.compile_fx import compile_fx
    from torch.fx.experimental.proxy_tensor import make_fx

    x = torch.ones(3)
    return compile_fx(make_fx(lambda x: (torch.sin(x) * 2,))(x), [x])(x)


def traced_by_script():
    return torch.jit.trace(lambda x: x * 2, torch.ones(3))(torch.ones(3))


def inductor_forward_and_backward():
    x = torch.ones(3, requires_grad=True)
    torch.compile(lambda x: (torch.sin(x) * x).sum())(x).backward()
    return x.grad


def inductor_with_a_break():
    def f(x):
        y = torch.sin(x)
        torch._dynamo.graph_break()
        return y * 2

    return torch.compile(f)(torch.ones(3))


def inductor_from_its_cache():
    def f(x):
        return torch.cos(x) * 3

    first = torch.compile(f)(torch.ones(3))
    torch._dynamo.reset()
    return [first, torch.compile(f)(torch.ones(3))]


def artifacts_of_caches():
    result = torch.compile(lambda x: torch.tan(x))(torch.ones(3))
    saved = getattr(torch.compiler, "save_cache_artifacts", lambda: None)()
    torch._dynamo.reset()
    with contextlib.suppress(AttributeError, TypeError):
        torch.compiler.load_cache_artifacts(saved[0])
    return [result, saved is not None]


def inductor_with_cpp_wrapper():
    with torch._inductor.config.patch(cpp_wrapper=True):
        return torch.compile(lambda x: x * 2 + 1)(torch.ones(3))


def fresh_cache():
    from torch._inductor.utils import fresh_inductor_cache

    with fresh_inductor_cache():
        return torch.compile(lambda x: x * 4 - 1)(torch.ones(3))


def backend_that_formats_graphs():
    def backend(module, inputs):
        torch._dynamo.utils.lazy_format_graph_code("before split", module)
        return module.forward

    return torch.compile(lambda x: x * 2, backend=backend)(torch.ones(3))


def backend_that_partitions():
    from torch._dynamo.backends.common import aot_autograd

    backend = aot_autograd(fw_compiler=lambda module, _: module.forward, bw_compiler=lambda module, _: module.forward)
    x = torch.ones(3, requires_grad=True)
    torch.compile(lambda x: torch.sin(x).sum(), backend=backend)(x).backward()
    return x.grad
