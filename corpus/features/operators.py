"""Operators and subclasses: higher-order, flex attention, custom operators, modes, quantised, sparse, complex."""

from __future__ import annotations

import torch
from torch import Tensor


def _on(function, *args, backend="aot_eager", **options):
    return torch.compile(function, backend=backend, **options)(*args)


def cond():
    return _on(lambda x: torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,)), torch.ones(3))


def while_loop():
    from torch._higher_order_ops.while_loop import while_loop as loop

    inputs = torch.tensor(0), torch.ones(2)
    return _on(lambda n, x: loop(lambda n, x: n < 3, lambda n, x: (n + 1, x * 2), (n, x)), *inputs)


def scan():
    from torch._higher_order_ops.scan import scan as run

    return _on(lambda start, xs: run(lambda c, x: (c + x, c * x), start, xs), torch.zeros(2), torch.ones(4, 2))


def map_over_rows():
    from torch._higher_order_ops.map import map as over

    return _on(lambda xs, y: over(lambda x, y: x + y, xs, y), torch.ones(3, 2), torch.ones(2))


def associative_scan():
    from torch._higher_order_ops.associative_scan import associative_scan as run

    return _on(lambda xs: run(lambda a, b: a + b, xs, dim=0, combine_mode="generic"), torch.ones(4, 2))


def invoked_subgraph():
    region = getattr(torch.compiler, "nested_compile_region", None)
    if region is None:
        return "this torch has no nested compile region"
    inner = region(lambda x: torch.sin(x) * 2)
    return _on(lambda x: inner(x) + inner(x + 1), torch.ones(3))


def scaled_dot_product_attention():
    q = torch.randn(1, 2, 4, 8)
    return _on(lambda q: torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True), q)


def flex_attention():
    from torch.nn.attention.flex_attention import flex_attention as attention

    q = torch.randn(1, 2, 16, 8)
    return _on(lambda q: attention(q, q, q, score_mod=lambda score, b, h, m, n: score + (m - n)), q)


def custom_operator():
    @torch.library.custom_op("unnoticed::doubled", mutates_args=())
    def doubled(x: Tensor) -> Tensor:
        return x * 2

    doubled.register_fake(torch.empty_like)
    return _on(lambda x: doubled(x) + 1, torch.ones(3))


def custom_operator_with_autograd():
    @torch.library.custom_op("unnoticed::tripled", mutates_args=())
    def tripled(x: Tensor) -> Tensor:
        return x * 3

    tripled.register_fake(torch.empty_like)
    tripled.register_autograd(lambda ctx, grad: grad * 3)
    x = torch.ones(3, requires_grad=True)
    _on(lambda x: tripled(x).sum(), x).backward()
    return x.grad


def custom_operator_that_writes():
    @torch.library.custom_op("unnoticed::increased", mutates_args={"x"})
    def increased(x: Tensor) -> None:
        x.add_(1)

    x = torch.ones(3)
    return [_on(lambda x: (increased(x), x * 2)[1], x), x]


def operator_without_a_fake():
    @torch.library.custom_op("unnoticed::unfaked", mutates_args=())
    def unfaked(x: Tensor) -> Tensor:
        return x * 2

    return _on(lambda x: unfaked(x), torch.ones(3))


def allowed_in_the_graph():
    def opaque(x):
        return x + 7

    torch._dynamo.allow_in_graph(opaque)
    return _on(lambda x: opaque(x) * 2, torch.ones(3), backend="eager")


def nonstrict_trace():
    mark = getattr(torch._dynamo, "nonstrict_trace", None)
    if mark is None:
        return "this torch has none"
    traced = mark(lambda x: x * 5)
    return _on(lambda x: traced(x) + 1, torch.ones(3))


def tensor_subclass_with_function():
    class Named(Tensor):
        pass

    return type(_on(lambda x: x * 2, torch.ones(3).as_subclass(Named), backend="eager")).__name__


def parameter_and_buffer():
    module = torch.nn.Module()
    module.weight = torch.nn.Parameter(torch.ones(3))
    module.register_buffer("shift", torch.ones(3))
    return _on(lambda x: x * module.weight + module.shift, torch.ones(3))


def function_mode():
    from torch.overrides import TorchFunctionMode

    class Counting(TorchFunctionMode):
        calls = 0

        def __torch_function__(self, function, types, args=(), kwargs=None):
            Counting.calls += 1
            return function(*args, **(kwargs or {}))

    with Counting():
        result = _on(lambda x: x * 2 + 1, torch.ones(3), backend="eager")
    return [result, Counting.calls]


def dispatch_mode():
    from torch.utils._python_dispatch import TorchDispatchMode

    class Listing(TorchDispatchMode):
        seen: list[str] = []

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            Listing.seen.append(str(function))
            return function(*args, **(kwargs or {}))

    compiled = torch.compile(lambda x: x * 2, backend="aot_eager")
    compiled(torch.ones(3))
    with Listing():
        result = compiled(torch.ones(3))
    return [result, Listing.seen]


def default_device():
    with torch.device("cpu"):
        return _on(lambda: torch.ones(3) * 2)


def meta_tensors():
    return _on(lambda x: x * 2, torch.ones(3, device="meta")).shape


def fake_tensors():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return (torch.ones(3) * 2).shape


def nested_tensors():
    x = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged)
    return _on(lambda x: x * 2, x).values()


def sparse_tensors():
    return _on(lambda x: (x * 2).to_dense(), torch.eye(3).to_sparse(), backend="eager")


def complex_numbers():
    return _on(lambda x: torch.fft.fft(x).abs(), torch.ones(4))


def quantised_weights():
    x = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)
    return _on(lambda x: x.dequantize() * 2, x, backend="eager")


def numpy_in_the_graph():
    import numpy

    return _on(lambda x: torch.from_numpy(numpy.sin(x.numpy())), torch.ones(3), backend="eager")


def data_dependent_size():
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        return _on(lambda n: torch.ones(n.item()), torch.tensor(4), backend="eager")


def nonzero_with_unbacked_size():
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        return _on(lambda x: x.nonzero() + 1, torch.tensor([0, 1, 2]), backend="eager")


def checked_sizes():
    def f(x):
        torch._check(x.shape[0] > 1)
        return x * 2

    return _on(f, torch.ones(3), dynamic=True)


def batched_linear_algebra():
    return _on(lambda x: torch.linalg.svdvals(x), torch.eye(3).expand(2, 3, 3))


def in_place_on_a_slice():
    def f(x):
        x[1:] *= 2
        return x.sum()

    x = torch.ones(4)
    return [_on(f, x), x]


def lstm():
    module = torch.nn.LSTM(2, 3)
    return _on(lambda x: module(x)[0], torch.ones(4, 1, 2), backend="eager")


def triton_kernel():
    try:
        import triton  # noqa: F401 - is it there?
    except ImportError as error:
        return str(error)
    return "there is no device for it"
